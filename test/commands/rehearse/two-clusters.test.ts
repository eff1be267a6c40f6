/** A plan over two clusters is rehearsed on a copy of each: both have a `cluster/bdbs/1`. */
import {mkdirSync, writeFileSync} from 'node:fs'
import {dirname} from 'node:path'
import {expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStacks} from '../../support/stack-json.ts'

const profile = (name: string, {env}: Site) =>
  `[profiles.${name}]\ndeployment_type = "enterprise"\nurl = "${env.SVC_ENTERPRISE_URL}"\nusername = "${env.SVC_ENTERPRISE_USER}"\npassword = "${env.SVC_ENTERPRISE_PASSWORD}"\n`

it('what is in the one is neither found nor in the way in the other', async () => {
  const [east, west] = [await site(), await site()]
  try {
    mkdirSync(dirname(east.configFile), {recursive: true, mode: 0o700})
    writeFileSync(east.configFile, profile('east', east) + profile('west', west), {mode: 0o600})
    const env = {SVC_ENTERPRISE_URL: '', SVC_ENTERPRISE_USER: '', SVC_ENTERPRISE_PASSWORD: ''}
    const run = (args: readonly string[], stacks: readonly JsonStack[]) =>
      east.fast([...args, '--stack', '*', '--synth-dir', saveStacks(east.folder, stacks), '-o', 'json'], {env})
    const stack = (name: 'east' | 'west') => jsonStack(name).target({cluster: {profile: name}})
    expect(await run(['apply', '--auto-approve'], [stack('east').bdb('cache'), stack('west')])).toMatchObject({code: 0})
    const wanted = () => [
      stack('east').bdb('cache', {memory_size: 209_715_200}).bdb('queue'),
      stack('west').bdb('cache').bdb('other', {name: 'queue'}),
    ]
    const rehearsed = await run(['rehearse'], wanted())
    expect(rehearsed.code, rehearsed.stderr).toBe(0)
    const {calls, second_plan} = documentOf(rehearsed)
    expect(second_plan).toEqual({empty: true, operations: []})
    for (const it of [east, west]) it.simulator.clearLog()
    expect(await run(['apply', '--auto-approve'], wanted())).toMatchObject({code: 0})
    const shown = calls
      .filter((it: {method: string}) => it.method !== 'GET')
      .map((it: {method: string; path: string}) => `${it.method} ${it.path}`)
    expect([...east.writes, ...west.writes].toSorted()).toEqual(shown.toSorted())
  } finally {
    await east.close()
    await west.close()
  }
})
