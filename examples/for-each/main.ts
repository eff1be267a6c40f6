// Many alike. A loop in TypeScript is the plain way; forEach and count are for what must be one block in the stack file,
// or follows a variable.
import {App, TerraformIterator, TerraformStack, TerraformVariable, Token} from 'cdktf'
import {AclRule, CloudTarget, Database, Subscription} from '../../src/index.ts' // elsewhere: from 'svcctl'

const app = new App()
const stack = new TerraformStack(app, 'for-each')
new CloudTarget(stack, 'cloud')

const subscription = new Subscription(stack, 'subscription', {name: 'regions'})

// Another map of sizes may be given with --var or in terraform.tfvars.json.
const sizes = new TerraformVariable(stack, 'sizes', {type: 'map(number)', default: {north: 1, south: 2}})
const each = TerraformIterator.fromMap(sizes.value)

const caches = new Database(stack, 'cache', {
  forEach: each,
  subscription,
  name: `cache-${each.key}`, // null_resource.cache["north"], null_resource.cache["south"]
  memoryLimitInGb: Token.asNumber(each.value),
})

// One rule in each of them.
new AclRule(stack, 'read_only', {
  forEach: each,
  database: caches.instance(each.key),
  name: 'read-only',
  rule: '+@read ~*',
})

app.synth()
