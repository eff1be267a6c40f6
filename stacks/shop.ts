/** A subscription of the cloud API with what belongs to it. */
import {TerraformOutput, TerraformStack} from 'cdktf'
import type {Construct} from 'constructs'
import {AclRule, AclUser, CloudTarget, Database, Subscription, secret, VpcPeering} from '../src/index.ts'

export interface ShopProps {
  /** What is no longer declared: `reports`, `peering`. */
  readonly retired: ReadonlySet<string>
}

export class Shop extends TerraformStack {
  readonly cache: Database

  constructor(scope: Construct, id: string, {retired}: ShopProps) {
    super(scope, id)
    // No profile: address and key come from the environment or the default profile.
    new CloudTarget(this, 'cloud')

    const subscription = new Subscription(this, 'subscription', {
      name: 'shop',
      paymentMethodId: 1,
      cloudProviders: [{provider: 'AWS', regions: [{region: 'us-east-1'}]}],
    })

    this.cache = new Database(this, 'cache', {
      subscription,
      name: 'cache',
      memoryLimitInGb: 2,
      protocol: 'redis',
      dataEvictionPolicy: 'allkeys-lru',
      modules: [{name: 'json'}],
      alerts: [{name: 'dataset-size', value: 80}],
    })
    new Database(this, 'sessions', {
      subscription,
      name: 'sessions',
      memoryLimitInGb: 1,
      replication: true,
      dataPersistence: 'aof-every-1-second',
      backup: {interval: 6, enabled: true},
    })

    const readOnly = new AclRule(this, 'read_only', {database: this.cache, name: 'read-only', rule: '+@read ~*'})
    new AclUser(this, 'storefront', {
      database: this.cache,
      name: 'storefront',
      role: readOnly.name,
      // Given as TF_VAR_storefront_password; the stack never sees it.
      password: secret(this, 'storefront_password', {description: "The storefront's password for the cache."}),
    })

    if (!retired.has('reports')) {
      const reports = new Database(this, 'reports', {subscription, name: 'reports', memoryLimitInGb: 0.5})
      new AclRule(this, 'analyst', {database: reports, name: 'analyst', rule: '+@read ~report:*'})
    }
    if (!retired.has('peering')) {
      new VpcPeering(this, 'peering', {
        subscription,
        provider: 'AWS',
        region: 'us-east-1',
        awsAccountId: '123456789012',
        vpcId: 'vpc-0a1b2c3d4e5f67890',
        vpcCidr: '10.20.0.0/16',
      })
    }

    new TerraformOutput(this, 'cache_endpoint', {value: this.cache.publicEndpoint, staticId: true})
  }
}
