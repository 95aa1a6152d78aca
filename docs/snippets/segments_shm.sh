# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
#
# Segments of whoever runs this stay: what clears, says what it would clear.
mkdir bin
real=$(command -v jalloc-shm)
cat >bin/jalloc-shm <<END
#!/bin/sh
case \$1 in
clear) shift; exec "$real" clear --dry-run "\$@" ;;
*) exec "$real" "\$@" ;;
esac
END
chmod +x bin/jalloc-shm
PATH=$PWD/bin:$PATH
# snippet
grep -q '<svg' mesh.svg
"$real" clear /mesh
