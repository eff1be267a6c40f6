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
      const done = await here.run(['plan'], {env: {...env, NO_PROXY: '*', TF_VAR_pw: secret}})
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
