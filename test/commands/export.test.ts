/** svcctl export as people use it: what is live becomes a project, which is planned at once and changes nothing. */
import {existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {systemClock} from '../../src/base/clock.ts'
import {waitFor} from '../../src/base/wait-for.ts'
import {exportSchema} from '../../src/export/document.ts'
import {world} from '../../src/simulator/index.ts'
import {linkPackages} from '../support/app.ts'
import {documentOf, type Site, site} from '../support/site.ts'

/** Every file of a folder, by its path in it. */
function filesIn(folder: string): Record<string, string> {
  const paths = readdirSync(folder, {recursive: true, withFileTypes: true}).filter(it => it.isFile())
  return Object.fromEntries(
    paths
      .map(it => [join(it.parentPath, it.name), readFileSync(join(it.parentPath, it.name), 'utf8')] as const)
      .map(([path, text]) => [path.slice(folder.length + 1), text]),
  )
}

describe('an account nobody declared', () => {
  let here: Site
  beforeAll(async () => {
    here = await site()
    linkPackages(here.folder)
    world()
      .subscription('orders', {cloudProviders: [{provider: 'AWS', regions: [{region: 'us-east-1'}]}]})
      .database('cache', {memoryLimitInGb: 2})
      .rule('ro')
      .user('app', {role: 'ro', password: 'hunter2'})
      .database('queue', {replication: true})
      .subscription('shop')
      .database('a')
      .database('b')
      .database('c')
      .bdb('sessions')
      .into(here.simulator)
  })
  afterAll(() => here.close())

  it('is written as a project, read with GETs, and proven to be adopted as it is', async () => {
    const done = await here.fast(['export', '--dir', 'infra', '-o', 'json'])
    expect(done).toMatchObject({code: 0})
    const document = exportSchema.parse(documentOf(done))
    expect(document).toMatchObject({
      proof: 'adopts',
      notRead: [
        {kind: 'cloud.acl_rule', requests: 5},
        {kind: 'cloud.acl_user', requests: 5},
      ],
    })
    expect(here.writes).toEqual([])
    expect(document.requests?.used).toBe(here.simulator.log.length)
    const files = filesIn(join(here.folder, 'infra'))
    expect(Object.keys(files).sort()).toEqual(['cdktf.json', 'package.json', 'tsconfig.json', ...document.files].sort())
    const {requests: _, ...rest} = document
    const {'//': banner, ...written} = exportSchema.parse(JSON.parse(files['export.json'] ?? ''))
    expect(written).toEqual(rest)
    expect(banner).toMatch(/^svcctl export [0-9a-f]{64}$/)
    expect(files['stacks/shop.ts']).toContain("const databases = [\n      {id: 'a', name: 'a'},")
    expect(files['stacks/cluster.ts']).toContain(
      "new ClusterDatabase(this, 'db_sessions', {\n      name: 'sessions',\n      memory_size: 104857600,",
    )
  })

  it('is an app of its own, which ledgers tell from the export of something else; the same again is the same bytes', async () => {
    const projectOf = async (dir: string, ...words: string[]) => {
      expect((await here.fast(['export', ...words, '--dir', dir, '--no-prove'])).code).toBe(0)
      return readFileSync(join(here.folder, dir, 'cdktf.json'), 'utf8')
    }
    const all = readFileSync(join(here.folder, 'infra', 'cdktf.json'), 'utf8')
    expect(JSON.parse(all).projectId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    expect(await projectOf('same')).toBe(all)
    const [shop, orders] = [await projectOf('shop', 'subscription:shop'), await projectOf('orders', 'subscription:orders')]
    expect(new Set([all, shop, orders]).size).toBe(3)
    // What somebody has given it since stays.
    const own = '{"app": "node --import tsx main.ts", "projectId": "mine"}'
    writeFileSync(join(here.folder, 'shop', 'cdktf.json'), own)
    expect(await projectOf('shop', 'subscription:shop', '--overwrite')).toBe(own)
  })

  it('is a part of the app that stands above its folder, and says so: it has no cdktf.json to plan it by', async () => {
    const app = join(here.folder, 'app')
    mkdirSync(app)
    writeFileSync(join(app, 'cdktf.json'), '{"app": "node main.mjs"}')
    const part = await here.fast(['export', 'subscription:shop', '--dir', 'part', '--no-prove'], {cwd: app})
    expect([part.code, Object.keys(filesIn(join(app, 'part')))]).toEqual([0, expect.not.arrayContaining(['cdktf.json'])])
    expect(part.stderr).toContain(
      `${join(app, 'part')} is a part of the app in ${app}, with no cdktf.json of its own: what it declares is planned once that app makes its stacks, as ${join(app, 'part', 'main.ts')} does`,
    )
    const own = await here.fast(['export', 'subscription:shop', '--dir', 'outside', '--no-prove'])
    expect(own.stderr).not.toContain('is a part of')
  })

  it('is not written over what is there, and replaced where nobody edited it', async () => {
    const before = filesIn(join(here.folder, 'infra'))
    const refused = await here.fast(['export', '--dir', 'infra', '-o', 'json'])
    expect([refused.code, documentOf(refused).error.code]).toEqual([64, 'E_EXPORT_EXISTS'])
    // Another command would write something else over it.
    expect(documentOf(refused).error.suggestions[0]).toMatch(/is replaced by the same command with --overwrite\.$/)
    const again = await here.fast(['export', '--dir', 'infra', '--overwrite', '--no-prove'])
    expect(again.code).toBe(0)
    const {'export.json': _document, ...same} = filesIn(join(here.folder, 'infra'))
    expect(before).toMatchObject(same)
    for (const name of ['main.ts', 'stacks/shop.ts']) writeFileSync(join(here.folder, 'infra', name), `${before[name]}// mine\n`)
    // A file that cannot be read as a whole is nothing that an export wrote.
    truncateSync(join(here.folder, 'infra', 'imports.ts'), 300 * 1_048_576)
    const edited = await here.fast(['export', '--dir', 'infra', '--overwrite', '-o', 'json'])
    expect([edited.code, documentOf(edited).error.code]).toEqual([3, 'E_EXPORT_EDITED'])
    expect(documentOf(edited).error.message).toContain('imports.ts, main.ts, stacks/shop.ts')
    writeFileSync(join(here.folder, 'infra', 'imports.ts'), before['imports.ts'] ?? '')
    expect(readFileSync(join(here.folder, 'infra', 'main.ts'), 'utf8')).toBe(`${before['main.ts']}// mine\n`)
  })

  it('says which files it takes away: what an earlier export wrote and this one does not have may have been applied', async () => {
    expect((await here.fast(['export', '--dir', 'less', '--no-prove'])).code).toBe(0)
    const less = join(here.folder, 'less')
    const before = Object.keys(filesIn(less))
    const done = await here.fast(['export', 'subscription:shop', '--dir', 'less', '--overwrite', '--no-prove'])
    const gone = before.filter(it => !existsSync(join(less, it)))
    expect([done.code, gone.includes('stacks/cluster.ts')], done.stderr).toEqual([0, true])
    expect(done.stderr).toContain(`removed from ${less}, where an earlier export wrote what this one does not have: `)
    for (const name of gone) expect(done.stderr).toContain(name)
    const same = await here.fast(['export', 'subscription:shop', '--dir', 'less', '--overwrite', '--no-prove'])
    expect([same.code, same.stderr]).toEqual([0, expect.not.stringContaining('removed')])
  })

  it('says what it will read, also of lists that nobody can count yet, and reads none of them beyond what is allowed', async () => {
    const whole = await here.fast(['export', 'cloud', '--kinds', '*', '--no-prove'])
    expect(whole.stderr).toContain('reading costs about 5 requests, and 2 more for each cloud.database it finds\n')
    expect(whole.stderr).toContain('reading costs about 15 requests\n')
    here.simulator.clearLog()
    const bounded = await here.fast(['export', 'cloud', '--kinds', '*', '--max-requests', '12', '-o', 'json'])
    expect([bounded.code, documentOf(bounded).error.suggestions, here.simulator.log.some(it => it.path.includes('/acl/'))]).toEqual([
      3,
      ['Allow more with --max-requests, or export one part after the other (subscription:NAME).'],
      false,
    ])
  })

  it('is proven by itself: what ledgers and values lie in the folder says nothing of the code', async () => {
    const beside = {'terraform.orders.tfstate': '{"damaged', 'terraform.tfvars.json': '{"also'}
    for (const [name, text] of Object.entries(beside)) writeFileSync(join(here.folder, name), text)
    const done = await here.fast(['export', '--dir', 'alone', '-o', 'json'])
    expect([done.code, done.stderr]).toEqual([0, expect.not.stringContaining('tfstate')])
    expect(documentOf(done)).toMatchObject({proof: 'adopts'})
    expect(existsSync(join(here.folder, '.svcctl', 'no-ledgers'))).toBe(false)
    for (const name of Object.keys(beside)) rmSync(join(here.folder, name))
  })

  it('goes into ledgers in the same command, and then there is nothing to plan: no password is asked for', async () => {
    const dir = join(here.folder, 'adopted')
    const done = await here.fast(['export', '--dir', 'adopted', '--kinds', '*', '--adopt', 'ledger', '-o', 'json'])
    expect(done.code).toBe(0)
    expect(documentOf(done)).toMatchObject({
      proof: 'empty',
      secrets: ['TF_VAR_cache_user_app_password', 'TF_VAR_user_administrator_password'],
    })
    expect(here.writes).toEqual([])
    expect(here.simulator.log.filter(it => it.path === '/' && it.api === 'cloud')).toHaveLength(1)
    const plan = await here.fast(['plan', '--detailed-exitcode', '-o', 'json'], {cwd: dir})
    expect(documentOf(plan).operations.filter((it: {action: string}) => it.action !== 'no-op')).toEqual([])
    expect(plan.code).toBe(0)
    const origins = await here.run(['state', 'list', '-o', 'json'], {cwd: dir})
    expect(new Set(documentOf(origins).resources.map((it: {origin: string}) => it.origin))).toEqual(new Set(['imported']))
    const owned = await here.fast(['export', '--dir', 'adopted', '--overwrite', '--kinds', '*', '--adopt', 'ledger', '-o', 'json'])
    expect([owned.code, documentOf(owned).error.code]).toEqual([3, 'E_IMPORT_OWNED'])
    const every = Object.values(filesIn(dir).valueOf()).join('')
    expect(every).not.toContain('hunter2')
  })

  it('is chosen by place: a subscription, an object, an API', async () => {
    const what = async (...words: string[]): Promise<string[]> => {
      const done = await here.fast(['export', ...words, '--no-prove', '-o', 'json'])
      expect([done.code, done.stderr]).toEqual([0, expect.any(String)])
      return documentOf(done).objects.map((it: {remoteId: string}) => it.remoteId)
    }
    expect(await what('subscription:shop')).toEqual([
      'cloud/subscriptions/2',
      ...[3, 4, 5].map(it => `cloud/subscriptions/2/databases/${it}`),
    ])
    expect(await what('cloud/subscriptions/1/databases/1')).toEqual(['cloud/subscriptions/1/databases/1'])
    expect((await what('cluster')).every(it => it.startsWith('cluster/'))).toBe(true)
  })

  it('finds a subscription by its name on whatever page it stands', async () => {
    here.simulator.configure({cloud: {paging: {maxLimit: 1}}})
    const objects = documentOf(await here.fast(['export', 'subscription:shop', '-o', 'json'])).objects
    here.simulator.configure({cloud: {paging: {maxLimit: null}}})
    expect(objects.map((it: {remoteId: string}) => it.remoteId)).toContain('cloud/subscriptions/2')
  })

  it('says what cannot be meant, before anything is written', async () => {
    const codeOf = async (...words: string[]): Promise<readonly unknown[]> => {
      const done = await here.fast(['export', ...words, '-o', 'json'])
      return [done.code, documentOf(done).error.code]
    }
    expect(await codeOf('subscription:nobody')).toEqual([11, 'E_EXPORT_ABSENT'])
    expect(await codeOf('cloud/subscriptions/99')).toEqual([11, 'E_EXPORT_ABSENT'])
    expect((await codeOf('moon'))[0]).toBe(64)
    expect((await codeOf('--kinds', 'cloud.databse'))[0]).toBe(64)
    expect(await codeOf('cloud', '--max-requests', '2')).toEqual([3, 'E_BILL'])
    const sent = here.simulator.log.length
    expect([await codeOf('--max-requests', '2'), here.simulator.log.length]).toEqual([[3, 'E_BILL'], sent])
    expect(existsSync(join(here.folder, 'never'))).toBe(false)
  })

  it('names both of two subscriptions that are called the same', async () => {
    world().subscription('twin').subscription('twin').into(here.simulator)
    const done = await here.fast(['export', 'subscription:twin', '-o', 'json'])
    expect([done.code, documentOf(done).error.code]).toEqual([3, 'E_EXPORT_NAMES'])
    expect(documentOf(done).error.message).toContain('cloud/subscriptions/3, cloud/subscriptions/4')
    const all = await here.fast(['export', 'cloud', '-o', 'json'])
    expect(documentOf(all)).toMatchObject({proof: 'adopts'})
  })
})

describe('an account that changes while it is read', () => {
  it('is exit 7: the fields are named, and the files are kept', async () => {
    const here = await site({cloud: {taskMs: 1, readyMs: 0, sparseLists: true, defaultsFilled: true}})
    try {
      world().subscription('a').database('b').database('c').into(here.simulator)
      const path = '/subscriptions/1/databases/1'
      here.simulator.inject({match: {method: 'GET', path: `**${path}`}, action: {type: 'delay', ms: 1000}})
      const running = here.start(['export', '--dir', 'infra', '-o', 'json'])
      const read = (end: string) => here.simulator.log.some(it => it.path.endsWith(end))
      await waitFor(() => Promise.resolve(read('/subscriptions/1/databases') || undefined), {
        clock: systemClock,
        everyMs: 20,
        timeoutMs: 30_000,
      })
      here.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {memoryLimitInGb: 9}})
      const done = await running.done
      expect([done.code, documentOf(done)]).toMatchObject([
        7,
        {proof: 'differs', differs: [{address: 'null_resource.b', paths: ['/memoryLimitInGb']}]},
      ])
      expect(existsSync(join(here.folder, 'infra', 'main.ts'))).toBe(true)
    } finally {
      await here.close()
    }
  })
})
