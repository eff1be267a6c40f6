/** A secret with a version needs no value while no operation sends it: in plans, applies, saved plans, and when all is destroyed. */

import {writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {makeApp} from '../../support/app.ts'
import {documentOf, type Site, site} from '../../support/site.ts'

const program = (email: string, version: number) => `import {App, TerraformStack} from 'cdktf'
import {ClusterTarget, ClusterUser, secret} from 'svcctl'

const app = new App()
const stack = new TerraformStack(app, 'team')
new ClusterTarget(stack, 'cluster')
new ClusterUser(stack, 'ada', {name: 'ada', role: 'db_viewer', email: '${email}', password: secret(stack, 'pw', {version: ${version}})})
app.synth()
`

describe('a secret with a version', () => {
  const GIVEN = {TF_VAR_pw: 'correct-horse'}
  let here: Site
  const write = (email: string, version = 1) => writeFileSync(join(here.folder, 'main.ts'), program(email, version))
  const refusedFor = async (...words: string[]) => {
    const done = await here.fast([...words, '-o', 'json'])
    const {code, problems} = documentOf(done).error
    return [done.code, code, problems?.[0]?.address, problems?.[0]?.path, problems?.[0]?.message]
  }
  beforeAll(async () => {
    here = await site()
    makeApp(here.folder, {'main.ts': program('ada@example.com', 1)})
  })
  afterAll(() => here.close())

  it('is asked for by what sends it, before anything is sent', async () => {
    const create = ['null_resource.ada', '/password', expect.stringContaining('set TF_VAR_pw')]
    expect(await refusedFor('plan')).toEqual([64, 'E_DECLARATION', ...create])
    expect(await refusedFor('apply', '--auto-approve')).toEqual([64, 'E_DECLARATION', ...create])
    expect(here.writes).toEqual([])
    expect((await here.run(['validate'])).code).toBe(0)
    expect((await here.fast(['apply', '--auto-approve'], {env: GIVEN})).code).toBe(0)
  })

  it('is not asked for by what leaves it as it is, nor by an update of another field', async () => {
    expect((await here.fast(['plan', '--detailed-exitcode'])).code).toBe(0)
    write('ada@example.org')
    here.simulator.clearLog()
    expect((await here.fast(['apply', '--auto-approve'])).code).toBe(0)
    expect(here.writes).toEqual(['PUT /v1/users/2'])
    expect(here.simulator.world.cluster.users['2']).toMatchObject({
      fields: {email: 'ada@example.org'},
      secrets: {password: 'correct-horse'},
    })
    expect((await here.fast(['plan', '--detailed-exitcode'])).code).toBe(0)
  })

  it('is not asked for by a saved plan that does not send it', async () => {
    write('ada@example.net')
    expect((await here.fast(['plan', '--out', 'change.plan'])).code).toBe(0)
    expect((await here.fast(['apply', 'change.plan', '--auto-approve'])).code).toBe(0)
    expect((await here.fast(['plan', '--detailed-exitcode'], {env: GIVEN})).code).toBe(0)
  })

  it('is asked for again when its version is raised, and then sent', async () => {
    write('ada@example.net', 2)
    here.simulator.clearLog()
    expect((await refusedFor('apply', '--auto-approve')).slice(0, 2)).toEqual([64, 'E_DECLARATION'])
    expect(here.writes).toEqual([])
    expect((await here.fast(['apply', '--auto-approve'], {env: {TF_VAR_pw: 'battery-staple'}})).code).toBe(0)
    expect(here.simulator.world.cluster.users['2']?.secrets).toMatchObject({password: 'battery-staple'})
    expect((await here.fast(['plan', '--detailed-exitcode'])).code).toBe(0)
  })

  it('is not asked for when everything is destroyed', async () => {
    expect((await here.fast(['destroy', '--auto-approve', '--allow-destroy', '*'])).code).toBe(0)
  })
})
