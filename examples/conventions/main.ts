// Rules of a house, in one place: an Aspect visits every object when the stacks are synthesized and may change it.
import {Annotations, App, Aspects, type IAspect, TerraformStack} from 'cdktf'
import type {IConstruct} from 'constructs'
import {CloudTarget, Database, Subscription} from '../../src/index.ts' // elsewhere: from 'svcctl'

/** Databases are replicated, alert at 80 % of their memory, and are not larger than a team may make them. */
class HouseRules implements IAspect {
  visit(node: IConstruct): void {
    if (!(node instanceof Database)) return
    node.spec.replication ??= true
    node.spec.alerts ??= [{name: 'dataset-size', value: 80}]
    if (node.spec.memoryLimitInGb > 10) Annotations.of(node).addError('Ask the platform team for a database of more than 10 GB.')
  }
}

const app = new App()
const stack = new TerraformStack(app, 'conventions')
new CloudTarget(stack, 'cloud')

const subscription = new Subscription(stack, 'subscription', {name: 'house'})
new Database(stack, 'orders', {subscription, name: 'orders', memoryLimitInGb: 2})
new Database(stack, 'scratch', {subscription, name: 'scratch', memoryLimitInGb: 1, replication: false}) // said here, so it stays

Aspects.of(stack).add(new HouseRules()) // of each stack: cdktf does not look at those of an app
app.synth()
