/** Old runs: told from their names, never opened again, and removed when they are old enough. */
import {mkdirSync, readdirSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'

let here: Site
let on: readonly string[]
beforeEach(async () => {
  here = await site()
  on = ['--synth-dir', saveStack(here.folder, jsonStack('shop').subscription('main'))]
})
afterEach(() => here.close())

const folder = () => join(here.folder, '.svcctl', 'runs')
const names = () => readdirSync(folder()).sort()
/** As old as its name says. */
const nameOf = (daysAgo: number, at = 0) =>
  `${new Date(Date.now() - daysAgo * 86_400_000 - at).toISOString().replaceAll(/[-:.Z]/g, '')}-00000a`

function leave(run: string, ended: boolean): void {
  mkdirSync(folder(), {recursive: true})
  writeFileSync(join(folder(), `${run}.jsonl`), 'whatever is in it, nobody reads it')
  writeFileSync(join(folder(), `${run}.plan.json`), '{}')
  if (ended) writeFileSync(join(folder(), `${run}.ended`), '')
}

describe('a run that ended', () => {
  it('says so beside its journal, which is never opened again', async () => {
    expect(await here.fast(['apply', ...on, '--auto-approve'])).toMatchObject({code: 0})
    const [journal = ''] = names().filter(it => it.endsWith('.jsonl'))
    expect(names()).toContain(journal.replace(/\.jsonl$/, '.ended'))
    // Were it read, it would be set aside.
    writeFileSync(join(folder(), journal), '')
    for (const args of [
      ['plan', ...on],
      ['apply', ...on, '--auto-approve'],
    ])
      expect(await here.fast(args)).toMatchObject({code: 0})
    expect(names().filter(it => it.endsWith('.damaged'))).toEqual([])
  })

  it('is removed by runs prune when it is old, the newest excepted; one that did not end stays', async () => {
    const [old, older, young] = [nameOf(40), nameOf(50), nameOf(3)]
    for (const run of [old, older, young]) leave(run, true)
    const {removed} = documentOf(await here.run(['runs', 'prune', '--older-than', '30d', '--keep', '0', '-o', 'json']))
    expect(removed).toEqual([older, old])
    expect(names()).toEqual([`${young}.ended`, `${young}.jsonl`, `${young}.plan.json`])
    expect(documentOf(await here.run(['runs', 'prune', '--older-than', '1d', '--keep', '1', '-o', 'json']))).toEqual({removed: []})
    expect((await here.run(['runs', 'prune', '--older-than', '1d', '--keep', '0'])).stdout).toBe('removed 1 run\n')
  })

  it('is removed by an apply by itself after thirty days, but for twenty', async () => {
    const old = Array.from({length: 25}, (_, i) => nameOf(40, i * 1000))
    for (const run of old) leave(run, true)
    expect(await here.fast(['apply', ...on, '--auto-approve'])).toMatchObject({code: 0})
    expect(names().filter(it => it.endsWith('.ended'))).toHaveLength(20)
  })
})
