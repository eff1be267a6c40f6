/** A secret with a version needs no value while no operation sends it: in plans, applies, saved plans, and when all is destroyed. */
import {join} from 'node:path'
import {TerraformStack} from 'cdktf'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {ClusterTarget, ClusterUser, secret} from '../../../src/index.ts'
import {synthesizeInto} from '../../declaration/constructs/synthesized.ts'
import {documentOf, type Site, site} from '../../support/site.ts'

describe('a secret with a version', () => {
  const GIVEN = {TF_VAR_pw: 'correct-horse'}
  let here: Site
  const write = (email: string, version = 1) =>
    synthesizeInto(join(here.folder, 'stacks'), app => {
      const stack = new TerraformStack(app, 'team')
      new ClusterTarget(stack, 'cluster')
      new ClusterUser(stack, 'ada', {name: 'ada', role: 'db_viewer', email, password: secret(stack, 'pw', {version})})
    })
  const run = (words: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    here.fast([...words, ...(words.includes('change.plan') && words[0] === 'apply' ? [] : ['--synth-dir', 'stacks'])], {env})
  const refusedFor = async (...words: string[]) => {
    const done = await run([...words, '-o', 'json'])
    const {code, problems} = documentOf(done).error
    return [done.code, code, problems?.[0]?.address, problems?.[0]?.path, problems?.[0]?.message]
  }
  beforeAll(async () => {
    here = await site()
    write('ada@example.com')
  })
  afterAll(() => here.close())

  it('is asked for by what sends it, before anything is sent', async () => {
    const create = ['null_resource.ada', '/password', expect.stringContaining('set TF_VAR_pw')]
    expect(await refusedFor('plan')).toEqual([64, 'E_DECLARATION', ...create])
    expect(await refusedFor('apply', '--auto-approve')).toEqual([64, 'E_DECLARATION', ...create])
    expect(here.writes).toEqual([])
    expect((await here.run(['validate', '--synth-dir', 'stacks'])).code).toBe(0)
    expect((await run(['apply', '--auto-approve'], GIVEN)).code).toBe(0)
  })

  it('is not asked for by what leaves it as it is, nor by an update of another field', async () => {
    expect((await run(['plan', '--detailed-exitcode'])).code).toBe(0)
    write('ada@example.org')
    here.simulator.clearLog()
    expect((await run(['apply', '--auto-approve'])).code).toBe(0)
    expect(here.writes).toEqual(['PUT /v1/users/2'])
    expect(here.simulator.world.cluster.users['2']).toMatchObject({
      fields: {email: 'ada@example.org'},
      secrets: {password: 'correct-horse'},
    })
    expect((await run(['plan', '--detailed-exitcode'])).code).toBe(0)
  })

  it('is not asked for by a saved plan that does not send it', async () => {
    write('ada@example.net')
    expect((await run(['plan', '--out', 'change.plan'])).code).toBe(0)
    expect((await run(['apply', 'change.plan', '--auto-approve'])).code).toBe(0)
    expect((await run(['plan', '--detailed-exitcode'], GIVEN)).code).toBe(0)
  })

  it('is asked for again when its version is raised, and then sent', async () => {
    write('ada@example.net', 2)
    here.simulator.clearLog()
    expect((await refusedFor('apply', '--auto-approve')).slice(0, 2)).toEqual([64, 'E_DECLARATION'])
    expect(here.writes).toEqual([])
    expect((await run(['apply', '--auto-approve'], {TF_VAR_pw: 'battery-staple'})).code).toBe(0)
    expect(here.simulator.world.cluster.users['2']?.secrets).toMatchObject({password: 'battery-staple'})
    expect((await run(['plan', '--detailed-exitcode'])).code).toBe(0)
  })

  it('is not asked for when everything is destroyed', async () => {
    expect((await run(['destroy', '--auto-approve', '--allow-destroy', '*'])).code).toBe(0)
  })
})
