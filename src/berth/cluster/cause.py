"""Why the cluster could not be asked, in words that hold no credential."""

import httpx2
import yaml

from berth import configfile


def said(error: Exception) -> str:
    """Say what went wrong, on one line.

    Of a header that cannot be sent httpx shows the whole, a Bearer token too; of YAML that cannot
    be read PyYAML shows the line, or a word of it, which in a kubeconfig may be a token or a key.
    """
    if isinstance(error, httpx2.LocalProtocolError):
        return "a request cannot be written; is there a line break in the token?"
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        return f"line {error.problem_mark.line + 1} is not valid YAML"
    return configfile.one_line(error) or type(error).__name__
