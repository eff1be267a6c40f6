// The smallest useful stack: a subscription, a database in it, and its endpoint as an output.
import {App, TerraformOutput, TerraformStack} from 'cdktf'
import {CloudTarget, Database, Subscription} from '../../src/index.ts' // elsewhere: from 'svcctl'

const app = new App()
const stack = new TerraformStack(app, 'first-database')

// Which deployment and account. Without a profile, the environment or the default profile says so.
new CloudTarget(stack, 'cloud')

const subscription = new Subscription(stack, 'subscription', {
  name: 'first',
  paymentMethodId: 1,
  cloudProviders: [{provider: 'AWS', regions: [{region: 'eu-west-1'}]}],
})

// Only the fields written here are compared and sent; all others are the server's business.
const database = new Database(stack, 'database', {
  subscription, // a reference: the subscription is made first
  name: 'cache',
  memoryLimitInGb: 1,
  dataEvictionPolicy: 'allkeys-lru',
})

new TerraformOutput(stack, 'endpoint', {value: database.publicEndpoint, staticId: true})

app.synth()
