// One stack for the platform team, one for each product team. A team's stack refers to the subscription of the other,
// and each stack has a ledger of its own: `svcctl apply --stack 'team-*'` leaves the platform alone.
import {App, TerraformStack} from 'cdktf'
import type {Construct} from 'constructs'
import {CloudTarget, Database, Subscription} from '../../src/index.ts' // elsewhere: from 'svcctl'

class Platform extends TerraformStack {
  readonly subscription: Subscription

  constructor(scope: Construct, id: string) {
    super(scope, id)
    new CloudTarget(this, 'cloud')
    this.subscription = new Subscription(this, 'subscription', {name: 'platform'})
  }
}

class Team extends TerraformStack {
  constructor(scope: Construct, id: string, subscription: Subscription, gigabytes: number) {
    super(scope, id)
    new CloudTarget(this, 'cloud')
    new Database(this, 'cache', {subscription, name: `${id}-cache`, memoryLimitInGb: gigabytes})
    new Database(this, 'queue', {subscription, name: `${id}-queue`, memoryLimitInGb: 1, dataPersistence: 'aof-every-1-second'})
  }
}

const app = new App()
const {subscription} = new Platform(app, 'platform')
new Team(app, 'team-search', subscription, 4)
new Team(app, 'team-checkout', subscription, 2)
app.synth()
