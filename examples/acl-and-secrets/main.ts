// Who may do what in a database. Passwords never stand in a stack: a secret is a variable that is given at run time.
import {App, TerraformStack} from 'cdktf'
import {AclRule, AclUser, CloudTarget, Database, Subscription, secret} from '../../src/index.ts' // elsewhere: from 'svcctl'

const app = new App()
const stack = new TerraformStack(app, 'acl-and-secrets')
new CloudTarget(stack, 'cloud')

const subscription = new Subscription(stack, 'subscription', {name: 'accounts'})
const database = new Database(stack, 'database', {subscription, name: 'accounts', memoryLimitInGb: 1})

const readOnly = new AclRule(stack, 'read_only', {database, name: 'read-only', rule: '+@read ~*'})

new AclUser(stack, 'app', {
  database,
  name: 'app',
  role: readOnly.name, // the rule is made before the user
  // TF_VAR_app_password, a variables file or --var. Without a version, a digest tells whether the value changed;
  // with one, a new value counts only when the version is raised.
  password: secret(stack, 'app_password', {version: 1, description: 'Password of the application.'}),
})

app.synth()
