// The create body of a subscription comes from a JSON file, with the databases its deployment asks for. One of them is
// declared too: it is adopted by its name and from then on compared.
import {App, TerraformStack} from 'cdktf'
import {CloudTarget, Database, Subscription} from '../../src/index.ts' // elsewhere: from 'svcctl'

const app = new App()
const stack = new TerraformStack(app, 'subscription-from-file')
new CloudTarget(stack, 'cloud')

const subscription = new Subscription(stack, 'subscription', {
  fromFile: 'subscription.json', // relative to this folder
  name: 'from-file', // fields written here win over those in the file
})

new Database(stack, 'main', {subscription, name: 'main', memoryLimitInGb: 1})

app.synth()
