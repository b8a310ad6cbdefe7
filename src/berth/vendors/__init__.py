"""The accelerators that Berth knows: one file each, one line here."""

from berth.model.vendor import Vendor
from berth.vendors import nvidia

VENDORS: tuple[Vendor, ...] = (nvidia.VENDOR,)
