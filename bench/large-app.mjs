/**
 * A stack of many objects: `node large-app.mjs COUNT fan|chain`. One subscription, and databases in it; in a chain each
 * waits for the one before.
 */
import {App, TerraformStack} from 'cdktf'
import {CloudTarget, Database, Subscription} from '../dist/lib/index.js'

const [count = '1000', shape = 'fan'] = process.argv.slice(2)
const app = new App()
const stack = new TerraformStack(app, 'large')
new CloudTarget(stack, 'cloud')
const subscription = new Subscription(stack, 'subscription', {name: 'large'})
let before
for (let i = 1; i < Number(count); i++) {
  const database = new Database(stack, `d${i}`, {
    subscription,
    name: `d${i}`,
    memoryLimitInGb: 1.5,
    replication: true,
    dataEvictionPolicy: 'allkeys-lru',
    modules: [{name: 'json'}],
    alerts: [{name: 'dataset-size', value: 80}],
    ...(shape === 'chain' && before !== undefined ? {dependsOn: [before]} : {}),
  })
  before = database
}
app.synth()
