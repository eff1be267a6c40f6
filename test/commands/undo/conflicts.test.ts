/** What an undo must not take for its own: addresses, names, fields and parents that somebody has by now. */
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {undoSchema} from '../../../src/run/undo/undo-document.ts'
import {type Inside, inside} from '../../support/inside.ts'
import {objectsOf} from '../../support/promises.ts'
import {documentOf} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStack} from '../../support/stack-json.ts'

let at: Inside
beforeEach(async () => {
  at = await inside()
})
afterEach(() => at.close())

const DB = 'cloud/subscriptions/1/databases'
const base = () => jsonStack('shop').subscription('main')

/** @returns the run's id */
async function apply(stack: JsonStack): Promise<string> {
  const from = ['--synth-dir', saveStack(at.folder, stack)]
  const outcome = await at.fast(['apply', ...from, '--auto-approve', '--allow-destroy', '*', '-o', 'json'])
  expect(outcome).toMatchObject({code: 0})
  return documentOf(outcome).run
}

async function undo(run: string, ...more: readonly string[]) {
  const outcome = await at.fast(['undo', run, '--out', join(at.folder, 'undo.plan'), '--allow-destroy', '*', '-o', 'json', ...more])
  expect(outcome).toMatchObject({code: 0})
  return undoSchema.parse(documentOf(outcome))
}

const carryOut = () => at.fast(['apply', join(at.folder, 'undo.plan'), '--auto-approve', '-o', 'json'])

describe('an address that is taken by now', () => {
  it('keeps everything in a chain of moves where it is, and nothing is deleted for it', async () => {
    await apply(base().bdb('a', {name: 'x'}).add('cluster.user', 'b', {name: 'y', role: 'db_viewer'}))
    const moved = () => base().bdb('b', {name: 'x'}).add('cluster.user', 'c', {name: 'y', role: 'db_viewer'})
    const run = await apply(moved())
    await apply(moved().bdb('a', {name: 'z'}))
    const done = await undo(run)
    expect(done.undoable).toEqual([])
    expect(done.conflicts.map(it => [it.address, it.why])).toEqual([
      ['null_resource.b', 'it stays at its address: shop:null_resource.a is another object by now'],
      ['null_resource.c', 'it stays at its address: shop:null_resource.b is another object by now'],
    ])
  })
})

describe('an object that gave its address away and got another name', () => {
  it('stays as it is where another one has its former name, and nothing is deleted for it', async () => {
    const start = () => base().subscription('second')
    await apply(start().database('a', 'second', {name: 'x'}).database('c', 'main', {name: 'z'}))
    const after = start().database('b', 'second', {name: 'x'}).database('a', 'main', {name: 'other'}).database('d', 'main', {name: 'z'})
    const run = await apply(after.block('moved', [{from: 'null_resource.c', to: 'null_resource.a'}]))
    const done = await undo(run)
    expect(done.conflicts.map(it => [it.address, it.why])).toContainEqual([
      'null_resource.a',
      expect.stringContaining('cannot be told from another object'),
    ])
    expect(done.undoable.filter(it => it.action === 'delete').map(it => it.address)).toEqual(['null_resource.d'])
  })
})

describe('an object that the run moved to another subscription', () => {
  const db = (where: string) => base().subscription('second').database('db', where)

  it('is made again where it was, and not where somebody has changed it since', async () => {
    await apply(db('main'))
    const run = await apply(db('second'))
    expect((await undo(run, '--recreate')).undoable).toMatchObject([{address: 'null_resource.db', action: 'replace'}])
    const [moved] = objectsOf(at.simulator).filter(it => it.name === 'db')
    at.simulator.edit({path: moved?.remoteId ?? '', set: {memoryLimitInGb: 9}})
    const done = await undo(run, '--recreate')
    expect(done.undoable).toEqual([])
    expect(done.conflicts.map(it => it.why)).toEqual(['somebody has changed it since, and to undo it is to replace it'])
  })
})

describe('a value that was to come when the run was planned', () => {
  it('is left as it is where a later run may have written another one', async () => {
    const shop = (note: object, more = {}) => base().bdb('cache', {...note}, more)
    await apply(shop({note: 'old'}))
    const run = await apply(
      base()
        .bdb('fresh')
        .bdb('cache', {}, {expressions: {'/note': '${null_resource.fresh.id}'}}),
    )
    expect((await undo(run)).undoable).toMatchObject([{address: 'null_resource.cache', action: 'update'}, {address: 'null_resource.fresh'}])
    await apply(shop({note: 'mine'}).bdb('fresh'))
    const done = await undo(run)
    expect(done.undoable.map(it => it.address)).toEqual(['null_resource.fresh'])
    expect(done.conflicts).toMatchObject([
      {address: 'null_resource.cache', path: '/note', why: expect.stringContaining('may have changed it')},
    ])
  })
})

describe('objects that changed sides in what hangs on what, and in which somebody has changed a field since', () => {
  it('get their other fields back', async () => {
    const two = (memory: number, a: object, b: object) =>
      base()
        .bdb('a', {memory_size: memory, note: `${memory}`}, a)
        .bdb('b', {memory_size: memory, note: `${memory}`}, b)
    await apply(two(104_857_600, {dependsOn: ['b']}, {}))
    const run = await apply(two(209_715_200, {}, {dependsOn: ['a']}))
    for (const uid of [1, 2]) at.simulator.edit({path: `cluster/bdbs/${uid}`, set: {note: 'by hand'}})
    const done = await undo(run)
    expect(done.conflicts.map(it => [it.address, it.path])).toEqual([
      ['null_resource.a', '/note'],
      ['null_resource.b', '/note'],
    ])
    expect(done.undoable.map(it => [it.address, it.action])).toEqual([
      ['null_resource.b', 'update'],
      ['null_resource.a', 'update'],
    ])
    expect(await carryOut()).toMatchObject({code: 0})
    for (const uid of [1, 2])
      expect(at.simulator.world.cluster.bdbs[uid]?.fields).toMatchObject({memory_size: 104_857_600, note: 'by hand'})
  })
})

describe('--recreate', () => {
  it('takes nothing over that somebody has made in the meantime', async () => {
    await apply(base().database('cache', 'main'))
    const run = await apply(base())
    at.simulator.edit({path: DB, create: {name: 'cache', memoryLimitInGb: 1}})
    const done = await undo(run, '--recreate')
    expect(done.undoable).toEqual([])
    expect(done.conflicts).toMatchObject([{address: 'null_resource.cache', why: `somebody has made one like it since: ${DB}/2`}])
  })

  it('makes nothing again where what it was in is another one by now', async () => {
    const two = () => base().subscription('second').database('inner', 'second')
    await apply(two())
    const run = await apply(base())
    await apply(base().subscription('second'))
    const done = await undo(run, '--recreate')
    expect(done.undoable).toEqual([])
    expect(done.conflicts).toMatchObject([{address: 'null_resource.second'}])
    expect(done.impossible).toMatchObject([{address: 'null_resource.inner', why: expect.stringContaining('is not made again')}])
  })

  it('of a replaced database makes what was in it again, too', async () => {
    const shop = (port: number) => base().database('cache', 'main', {port}).rule('ro', 'cache')
    await apply(shop(12_000))
    const run = await apply(shop(12_001))
    const done = await undo(run, '--recreate')
    expect(done.undoable.map(it => [it.address, it.action])).toEqual([
      ['null_resource.cache', 'replace'],
      ['null_resource.ro', 'replace'],
    ])
    expect(await carryOut()).toMatchObject({code: 0})
    const from = ['--synth-dir', saveStack(at.folder, shop(12_000))]
    expect(documentOf(await at.fast(['plan', ...from, '-o', 'json'])).summary).toMatchObject({'no-op': 3})
    // And back once more.
    const again = await undo(documentOf(await at.run(['runs', 'list', '-o', 'json'])).at(-1).run, '--recreate')
    expect(again.undoable.map(it => it.action)).toEqual(['replace', 'replace'])
  })
})

describe('what the run has not made', () => {
  it('stays in a collection that is exclusive, owned or not', async () => {
    const shop = (name: string) =>
      jsonStack('shop')
        .subscription('main', {name}, {policy: {exclusive: ['databases']}})
        .database('db', 'main')
    await apply(shop('one'))
    const run = await apply(shop('two'))
    at.simulator.edit({path: DB, create: {name: 'stranger', memoryLimitInGb: 1}})
    const done = await undo(run)
    expect(done.undoable).toMatchObject([{address: 'null_resource.main', action: 'update'}])
    expect(await carryOut()).toMatchObject({code: 0})
    expect(objectsOf(at.simulator).map(it => it.name)).toEqual(['one', 'db', 'stranger'])
  })

  it('is not lost with a database that is replaced', async () => {
    const shop = (port: number) => base().database('cache', 'main', {port})
    await apply(shop(12_000))
    const run = await apply(shop(12_001))
    await apply(shop(12_001).rule('late', 'cache'))
    const done = await undo(run, '--recreate')
    expect(done.undoable).toEqual([])
    expect(done.conflicts).toMatchObject([{address: 'null_resource.cache', why: expect.stringContaining('null_resource.late')}])
  })
})

describe('a field inside an object that is sent whole', () => {
  it('gets back what was there, and is named where nobody knows that', async () => {
    await apply(
      base()
        .bdb('cache', {extra: {x: 1}})
        .bdb('other', {extra: {x: 1}}),
    )
    at.simulator.edit({path: 'cluster/bdbs/1', set: {extra: {x: 1, y: 7}}})
    const run = await apply(
      base()
        .bdb('cache', {extra: {x: 1, y: 2}})
        .bdb('other', {extra: {x: 2, y: 2}}),
    )
    const done = await undo(run)
    expect(done.impossible).toMatchObject([
      {address: 'null_resource.other', path: '/extra/y', why: expect.stringContaining('not declared')},
    ])
    expect(await carryOut()).toMatchObject({code: 0})
    const live = Object.values(at.simulator.world.cluster.bdbs).map(it => it.fields.extra)
    expect(live).toEqual([
      {x: 1, y: 7},
      {x: 1, y: 2},
    ])
  })
})
