// `npm test`: installs what is missing, builds, and runs the tests. Arguments go to vitest: `npm test -- test/config`.

import {join} from 'node:path'
import {build, install, root, run} from './prepare.mjs'

install()
build()
run(process.execPath, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...process.argv.slice(2)])
