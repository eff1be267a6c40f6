import {existsSync, readdirSync, readFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {beforeAll, describe, expect, it} from 'vitest'
import {type StackFile, triggersOf} from '../declaration/constructs/synthesized.ts'
import {type AppRun, runApps} from './run-apps.ts'

const repository = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const examples = readdirSync(join(repository, 'examples'), {withFileTypes: true})
  .filter(it => it.isDirectory())
  .map(it => it.name)
const programs = examples.filter(name => existsSync(join(repository, 'examples', name, 'cdktf.json')))
const apps = [...programs.map(name => join('examples', name)), '.']

/** A stack file without the name of the library that wrote it. */
const withoutVersion = (file: StackFile) => ({...file, '//': {...file['//'], metadata: undefined}})
const withoutVersions = (stacks: Readonly<Record<string, StackFile>>) =>
  Object.fromEntries(Object.entries(stacks).map(([name, file]) => [name, withoutVersion(file)]))

let [runs, others]: Readonly<Record<string, AppRun>>[] = []
beforeAll(async () => {
  const folders = apps.map(folder => join(repository, folder))
  ;[runs, others] = await Promise.all([runApps(folders), runApps(folders, {library: 'cdktn'})])
})

/** What the app of a folder gives, with cdktf unless told otherwise. */
function runOf(folder: string, from = runs): AppRun {
  const run = from?.[join(repository, folder)]
  if (run === undefined) throw new Error(`the app of ${folder} gave nothing`)
  return run
}

describe.each(apps)('the app of %s', folder => {
  it('synthesizes without a warning, a path of this machine or anything cdktf left unresolved', () => {
    const run = runOf(folder)
    expect(run.warnings).toEqual([])
    const text = JSON.stringify(run.stacks)
    expect(text).not.toContain(repository)
    expect(text).not.toMatch(/TfToken\[|<unresolved|Token Value|e\+2[89]\d/)
  })

  it('says in which line each object was written', () => {
    for (const file of Object.values(runOf(folder).stacks)) {
      for (const [name, resource] of Object.entries(file.resource?.null_resource ?? {})) {
        const {svcctl} = resource['//'] as {svcctl?: {source?: string}}
        const [, path = '', line = ''] = /^(.+):(\d+)$/.exec(svcctl?.source ?? '') ?? []
        const written = readFileSync(join(repository, folder, path), 'utf8').split('\n')[Number(line) - 1]
        expect(`${name}: ${written}`).toMatch(/new \w+\(/)
      }
    }
  })

  it('gives the same stacks with cdktn', () => {
    const versions = (stacks: AppRun['stacks']) => Object.values(stacks).map(file => (file['//'].metadata as {version: string}).version)
    const [run, other] = [runOf(folder), runOf(folder, others)]
    expect(new Set(versions(run.stacks))).toEqual(new Set(['0.21.0']))
    expect(versions(other.stacks).every(version => version.startsWith('0.24.'))).toBe(true)
    expect(withoutVersions(other.stacks)).toEqual(withoutVersions(run.stacks))
  })
})

describe('the stacks of the demo', () => {
  it('declare less when something is retired', async () => {
    const names = ({stacks}: AppRun) =>
      Object.fromEntries(Object.entries(stacks).map(([name, file]) => [name, Object.keys(triggersOf(file))]))
    const all = names(runOf('.'))
    const fewer = names(runOf('.', await runApps([join(repository, '.')], {context: {retire: 'reports,peering,operator'}})))
    expect(all).toEqual({
      shop: ['analyst', 'cache', 'peering', 'read_only', 'reports', 'sessions', 'storefront', 'subscription'],
      edge: ['node_1', 'node_2', 'node_3', 'operator', 'policy', 'replica', 'settings'],
    })
    expect(fewer).toEqual({
      shop: ['cache', 'read_only', 'sessions', 'storefront', 'subscription'],
      edge: ['node_1', 'node_2', 'node_3', 'policy', 'replica', 'settings'],
    })
  })
})

describe('the house rules of the conventions example', () => {
  it('fill in what a database does not say, and leave what it says', () => {
    const {stacks} = runOf(join('examples', 'conventions'))
    const {orders, scratch} = triggersOf(stacks.conventions)
    expect(orders?.spec).toBe('{"alerts":[{"name":"dataset-size","value":80}],"memoryLimitInGb":2,"name":"orders","replication":true}')
    expect(scratch?.spec).toBe('{"alerts":[{"name":"dataset-size","value":80}],"memoryLimitInGb":1,"name":"scratch","replication":false}')
  })
})

describe('every example', () => {
  it('stands in the table of examples, and says in a line what to run', () => {
    const table = readFileSync(join(repository, 'examples', 'README.md'), 'utf8')
    for (const name of examples) {
      expect(table).toContain(`[${name}](${name})`)
      expect(readFileSync(join(repository, 'examples', name, 'README.md'), 'utf8')).toContain('svcctl plan')
    }
  })
})
