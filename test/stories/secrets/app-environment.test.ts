import {writeFileSync} from 'node:fs'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {expect, it} from 'vitest'
import {site} from '../../support/site.ts'

const APP = `
const {writeFileSync, readFileSync, mkdirSync} = require('node:fs')
const environments = []
for (let pid = process.pid; environments.length < 2; ) {
  environments.push(readFileSync('/proc/' + pid + '/environ', 'latin1').split('\\0'))
  pid = Number(readFileSync('/proc/' + pid + '/status', 'utf8').match(/PPid:\\s*(\\d+)/)[1])
}
writeFileSync('seen.json', JSON.stringify({own: process.env, environments}))
const out = process.env.CDKTF_OUTDIR
mkdirSync(out + '/a', {recursive: true})
writeFileSync(out + '/a/cdk.tf.json', JSON.stringify({resource: {null_resource: {s: {triggers: {kind: 'cloud.subscription', spec: '{"name":"s"}'}}}}}))
writeFileSync(out + '/manifest.json', JSON.stringify({version: '0.21.0', stacks: {a: {name: 'a', constructPath: 'a', workingDirectory: 'a', synthesizedStackPath: 'a/cdk.tf.json', annotations: [], dependencies: []}}}))
`

it.skipIf(process.platform !== 'linux')(
  'the app of a stack finds no credential, neither in its environment nor in that of svcctl',
  async () => {
    const here = await site()
    try {
      writeFileSync(join(here.folder, 'app.cjs'), APP)
      writeFileSync(join(here.folder, 'cdktf.json'), JSON.stringify({app: 'exec node app.cjs'}))
      const secret = 'never-to-be-seen'
      const env = {PROD_SECRET: secret, TF_TOKEN_app: secret, HTTP_PROXY: `http://u:${secret}@127.0.0.1:1`}
      const done = await here.child(['plan'], {env: {...env, NO_PROXY: '*', TF_VAR_pw: secret}})
      expect(done).toMatchObject({code: 0})
      const text = await readFile(join(here.folder, 'seen.json'), 'utf8')
      for (const hidden of [secret, here.env.SVC_CLOUD_SECRET_KEY ?? '']) expect(text).not.toContain(hidden)
      const {environments} = JSON.parse(text) as {environments: readonly (readonly string[])[]}
      // That it is svcctl's own environment which was read: what everybody may know is there.
      expect(environments[1]).toContain('LANG=C.UTF-8')
      expect(environments[1]).toContain('PROD_SECRET=')
    } finally {
      await here.close()
    }
  },
  30_000,
)

it('what the app of a stack prints of a secret is hidden, in whatever pieces it comes', async () => {
  const here = await site()
  try {
    const secret = 'never/to be "seen'
    const triggers = {
      kind: 'cluster.database',
      spec: JSON.stringify({name: 'b', memory_size: 104_857_600, authentication_redis_pass: secret}),
    }
    const stack = JSON.stringify({resource: {null_resource: {b: {triggers}}}})
    writeFileSync(
      join(here.folder, 'app.cjs'),
      `const {writeFileSync, mkdirSync} = require('node:fs')
const out = process.env.CDKTF_OUTDIR
mkdirSync(out + '/a', {recursive: true})
writeFileSync(out + '/a/cdk.tf.json', ${JSON.stringify(stack)})
writeFileSync(out + '/manifest.json', JSON.stringify({version: '0.21.0', stacks: {a: {name: 'a', constructPath: 'a', workingDirectory: 'a', synthesizedStackPath: 'a/cdk.tf.json', annotations: [], dependencies: []}}}))
const secret = ${JSON.stringify(secret)}
console.log('whole ' + secret)
process.stdout.write('in parts ' + secret.slice(0, 9))
setTimeout(() => {
  process.stderr.write('at the same time\\n' + secret.slice(0, 8))
  setTimeout(() => {
    process.stdout.write(secret.slice(9) + ' it is\\n')
    process.stderr.write(secret.slice(8))
  }, 50)
}, 50)
`,
    )
    writeFileSync(join(here.folder, 'cdktf.json'), JSON.stringify({app: 'exec node app.cjs'}))
    const {code, stdout, stderr} = await here.run(['plan', '-v'])
    expect(code).toBe(0)
    for (const line of ['whole [redacted]\n', 'in parts [redacted] it is\n', 'at the same time\n', '\n[redacted]\n'])
      expect(stderr).toContain(line)
    for (const part of [secret.slice(0, 8), secret.slice(9)]) expect(stdout + stderr).not.toContain(part)
  } finally {
    await here.close()
  }
}, 30_000)
