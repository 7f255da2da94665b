"""What the decompressors of Hadoop and Java say of a file that is damaged, cut off, or not compressed at all."""

import re
from typing import Final

NOT_COMPRESSED: Final = re.compile(
    r"not a gzip file|Not in GZIP format|Magic number incorrect|bad magic|incorrect header"
)
CUT_OFF: Final = re.compile(
    r"Unexpected end of input stream|Unexpected end of ZLIB|stream ended prematurely|EOFException"
)
CORRUPT: Final = re.compile(
    r"Error reading from input|invalid (?:block|stored|distance|code|bit|literal)|data check|too many length|crc error"
    r"|ZipException|DataFormatException|BlockCRC",
    re.IGNORECASE,
)
OF_NO_NETWORK: Final = re.compile(
    r"Unexpected end of (?:input stream|ZLIB)|not (?:a |in )?gzip|incorrect (?:header|data) check|ZipException"
    r"|invalid (?:block type|stored block|distance|code lengths|bit length|literal)|DataFormatException|BlockCRC",
    re.IGNORECASE,
)
"""Those texts that mean a damaged file wherever they stand. The others do so only of a file that is compressed: a lost
connection ends in an `EOFException`, too."""
