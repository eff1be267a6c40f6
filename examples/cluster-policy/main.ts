// A self-hosted cluster: its settings and policy, the racks of its nodes, a database and a user.
import {App, TerraformStack} from 'cdktf'
import {ClusterDatabase, ClusterNode, ClusterPolicy, ClusterSettings, ClusterTarget, ClusterUser, secret} from '../../src/index.ts' // elsewhere: from 'svcctl'

const app = new App()
const stack = new TerraformStack(app, 'cluster-policy')
new ClusterTarget(stack, 'cluster')

// There is always one of each: they are changed, never created, and forgotten when the declaration goes.
new ClusterSettings(stack, 'settings', {name: 'berlin.example.com'})
new ClusterPolicy(stack, 'policy', {default_shards_placement: 'sparse'})

// Nodes join and leave on their own machines; a uid that is not there is an error at plan.
for (const uid of [1, 2, 3]) new ClusterNode(stack, `node_${uid}`, {uid, rack_id: `row-${uid}`})

new ClusterDatabase(stack, 'sessions', {
  name: 'sessions',
  memory_size: '4GiB', // bytes in the API; a number is bytes too
  port: 12001,
  shards_placement: 'sparse',
})

new ClusterUser(stack, 'monitoring', {
  name: 'monitoring',
  email: 'monitoring@example.com',
  role: 'db_viewer',
  password: secret(stack, 'app_password'),
})

app.synth()
