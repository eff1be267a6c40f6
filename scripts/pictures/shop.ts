/** What the pictures in the README are of: a stack as it was applied (`SHOP=before`), and as a pull request would have it. */
import {App, TerraformStack} from 'cdktf'
import {AclRule, AclUser, CloudTarget, Database, Subscription, secret} from '../../src/index.ts'

const isProposed = process.env.SHOP !== 'before'

const app = new App()
const stack = new TerraformStack(app, 'shop')
new CloudTarget(stack, 'cloud')

const us = new Subscription(stack, 'us', {name: 'shop-us'})
new Database(stack, 'carts', {
  subscription: us,
  name: 'carts',
  memoryLimitInGb: isProposed ? 4 : 8,
  replication: true,
  throughputMeasurement: {by: 'operations-per-second', value: 25_000},
})
const orders = new Database(stack, 'orders', {subscription: us, name: 'orders', memoryLimitInGb: 6, port: isProposed ? 13_000 : 12_000})
new AclRule(stack, 'read_orders', {database: orders, name: 'read-orders', rule: '+@read ~order:*'})
new Database(stack, 'search', {
  subscription: us,
  name: 'search',
  memoryLimitInGb: 3,
  dataEvictionPolicy: 'allkeys-lru',
  alerts: [{name: 'dataset-size', value: isProposed ? 80 : 90}],
})

if (isProposed) {
  const eu = new Subscription(stack, 'eu', {name: 'shop-eu'})
  const cache = new Database(stack, 'eu-cache', {subscription: eu, name: 'cache', memoryLimitInGb: 2, modules: [{name: 'json'}]})
  new Database(stack, 'eu-queue', {subscription: eu, name: 'queue', memoryLimitInGb: 1})
  const reader = new AclRule(stack, 'eu-reader', {database: cache, name: 'reader', rule: '+@read ~*'})
  new AclUser(stack, 'eu-storefront', {
    database: cache,
    name: 'storefront',
    role: reader.name,
    password: secret(stack, 'storefront_password'),
  })
} else {
  const legacy = new Database(stack, 'legacy-sessions', {subscription: us, name: 'legacy-sessions', memoryLimitInGb: 2})
  new AclRule(stack, 'legacy-access', {database: legacy, name: 'legacy', rule: '+@all ~*'})
}

app.synth()
