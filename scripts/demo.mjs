// `npm run demo`: installs what is missing, builds, and shows svcctl against its own simulator.
import {build, install, runScript} from './prepare.mjs'

install()
build()
runScript('scripts/demo.ts', process.argv.slice(2))
