/**
 * The stacks of the demo: `npm run demo` plans and applies them against the simulator.
 *
 * `retire` names what is no longer wanted (`reports`, `peering`, `operator`), to show how a removed declaration is
 * planned. It comes from the context of cdktf.json or from the variable DEMO_RETIRE, separated by commas.
 */
import {App} from 'cdktf'
import {Edge} from './edge.ts'
import {Shop} from './shop.ts'

const app = new App()
const retire: unknown = app.node.tryGetContext('retire') ?? process.env.DEMO_RETIRE
const retired = new Set(String(retire ?? '').split(','))

const shop = new Shop(app, 'shop', {retired})
new Edge(app, 'edge', {retired, cacheEndpoint: shop.cache.publicEndpoint})

app.synth()
