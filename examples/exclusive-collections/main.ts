// What happens to objects and fields that others touch: policies per object.
import {App, TerraformStack} from 'cdktf'
import {CloudTarget, Database, Subscription} from '../../src/index.ts' // elsewhere: from 'svcctl'

const app = new App()
const stack = new TerraformStack(app, 'exclusive-collections')
new CloudTarget(stack, 'cloud')

const subscription = new Subscription(stack, 'subscription', {
  name: 'billing',
  // A database in this subscription that no stack of the app declares is planned for deletion (and is protected, as
  // every database: --allow-destroy). Without this, undeclared databases are counted and left alone.
  exclusive: ['databases'],
})

new Database(stack, 'ledger', {
  subscription,
  name: 'ledger',
  memoryLimitInGb: 2,
  dataPersistence: 'aof-every-write',
  // When this declaration goes, the database stays and is forgotten.
  removalPolicy: 'retain',
  // cdktf's own: nothing may delete or replace it while it is declared.
  lifecycle: {preventDestroy: true},
})

new Database(stack, 'cache', {
  subscription,
  name: 'cache',
  memoryLimitInGb: 1,
  // An autoscaler sets the size; here it only counts when the database is made.
  ignoreChanges: ['/memoryLimitInGb'],
})

app.synth()
