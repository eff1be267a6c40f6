/**
 * A field that held a secret and is declared no more: the live object may have it still, and so may everything that is
 * said of that object from then on. Nothing that is said or kept has the value, whatever becomes of the object.
 */
import {readdirSync, readFileSync, statSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import type {JsonObject} from '../../../src/base/json.ts'
import {type Inside, inside} from '../../support/inside.ts'
import {documentOf} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStack, saveStacks} from '../../support/stack-json.ts'

const VALUE = 'volatile-lru'
const GIVEN = {env: {TF_VAR_net: VALUE}}

let at: Inside
beforeEach(async () => {
  at = await inside()
})
afterEach(() => at.close())

const sub = (name = 'shop') => jsonStack(name).subscription('main')
const secret = {expressions: {'/dataEvictionPolicy': '${var.net}'}}
const variable = {net: {type: 'string', sensitive: true}}
const hidden = () => sub().block('variable', variable).database('cache', 'main', {port: 12_000}, secret)
/** Without the field, and with another one that is sent. */
const dropped = (spec: JsonObject = {memoryLimitInGb: 2}) => sub().database('cache', 'main', {port: 12_000, ...spec})
const from = (stack: JsonStack): string[] => ['--synth-dir', saveStack(at.folder, stack)]

/** All that was said so far. */
let said = ''
let run = ''
beforeEach(() => {
  said = ''
})

async function call(args: readonly string[], how: Parameters<Inside['fast']>[1] = {}) {
  const outcome = await at.fast([...args], how)
  said += outcome.stdout + outcome.stderr
  return outcome
}

async function apply(args: readonly string[], how: Parameters<Inside['fast']>[1] = {}) {
  const outcome = await call(['apply', ...args, '--auto-approve', '--allow-destroy', '*', '-o', 'json'], how)
  expect(outcome, outcome.stderr).toMatchObject({code: 0})
  return documentOf(outcome)
}

/** Files below the folder of the app, with the value in them. */
const leaks = (): string[] =>
  readdirSync(at.folder, {recursive: true, encoding: 'utf8'})
    .filter(it => statSync(join(at.folder, it)).isFile())
    .filter(it => readFileSync(join(at.folder, it), 'utf8').includes(VALUE))

const ledger = (): string => readFileSync(join(at.folder, 'terraform.shop.tfstate'), 'utf8')

function expectNothingOut(): void {
  expect(said.split('\n').filter(it => it.includes(VALUE))).toEqual([])
  expect(leaks()).toEqual([])
}

beforeEach(async () => {
  await apply(from(hidden()), GIVEN)
  ;({run} = await apply(from(dropped())))
  expect(ledger()).toContain('secret/dataEvictionPolicy')
})

const moved = () =>
  sub()
    .block('moved', [{from: 'null_resource.cache', to: 'null_resource.store'}])
    .database('store', 'main', {name: 'cache', port: 12_000, memoryLimitInGb: 2})
const clear = () => dropped({memoryLimitInGb: 2, dataEvictionPolicy: 'noeviction'})
const pair = () => {
  const far = jsonStack('far').subscription('main', {name: 'far'})
  return saveStacks(at.folder, [clear(), far.database('cache', 'main', {name: 'other', port: 12_000, dataEvictionPolicy: 'noeviction'})])
}
const apart = () => {
  const far = jsonStack('far').add(
    'cloud.database',
    'cache',
    {name: 'cache', port: 12_000, memoryLimitInGb: 3},
    {expressions: {'/subscription': 'main'}},
  )
  return saveStacks(at.folder, [sub(), far])
}
/** Another object has what the live one shows. */
const read = () =>
  sub()
    .block('output', {policy: {value: OUTPUT}})
    .database('cache', 'main', {port: 12_000, memoryLimitInGb: 2}, {outputs: ['dataEvictionPolicy']})
    .database('other', 'main', {port: 12_002}, {expressions: {'/dataEvictionPolicy': OUTPUT}})
const OUTPUT = '${null_resource.cache.triggers["out/dataEvictionPolicy"]}'
const APPLY = ['--auto-approve', '--allow-destroy', '*', '-o', 'json']

type Call = () => readonly string[]
const applied =
  (stack: () => JsonStack): Call =>
  () => ['apply', ...from(stack()), ...APPLY]
const explained =
  (name: string, stack: () => JsonStack, ...more: string[]): Call =>
  () => ['explain', name, ...from(stack()), ...more]
const file = () => join(at.folder, 'back.plan')

/** What is done, one call after the other. */
const views: Readonly<Record<string, readonly Call[]>> = {
  'is explained': [explained('cache', dropped), explained('cache', dropped, '-o', 'json')],
  'is deleted': [() => ['plan', ...from(sub()), '-o', 'json'], applied(sub)],
  'is destroyed': [() => ['destroy', ...from(dropped()), ...APPLY]],
  'is replaced': [applied(() => dropped({memoryLimitInGb: 2, port: 12_001}))],
  'is changed again, and then goes': [applied(() => dropped({memoryLimitInGb: 3})), applied(sub)],
  'gets another address, and then goes': [applied(moved), explained('store', moved), applied(sub)],
  'is given another value in clear': [() => ['plan', ...from(clear()), '-o', 'json'], applied(clear)],
  'is beside another one that is live': [
    () => ['apply', '--synth-dir', pair(), '--stack', 'far', ...APPLY],
    () => ['compare', 'shop', 'far', '--live', '--synth-dir', pair(), '-o', 'json'],
  ],
  'has drifted': [() => ['drift', ...from(dropped()), '-o', 'json'], () => ['drift', ...from(clear()), '-o', 'json']],
  'is taken back': [
    () => ['undo', run, '--out', file(), '-o', 'json'],
    () => ['apply', file(), '--auto-approve', '-o', 'json'],
    explained('cache', dropped),
    applied(sub),
  ],
  'is read by another one': [
    () => ['plan', ...from(read()), '-o', 'json'],
    () => ['plan', ...from(read()), '--out', file()],
    () => ['show', file(), '-o', 'json'],
    () => ['apply', file(), '--auto-approve', '-o', 'json'],
    () => ['plan', ...from(read()), '--detailed-exitcode'],
    () => ['output', ...from(read())],
    explained('other', read, '-o', 'json'),
  ],
  'is remembered': [
    applied(sub),
    () => ['history', 'null_resource.cache', ...from(sub()), '-o', 'json'],
    () => ['runs', 'list', '-o', 'json'],
  ],
  'goes to another stack, is changed there, and is deleted': [
    () => ['transfer', 'null_resource.cache', '--from', 'shop', '--to', 'far', '--synth-dir', apart(), '-o', 'json'],
    () => ['apply', '--synth-dir', apart(), '--stack', '*', ...APPLY],
    () => ['explain', 'far:null_resource.cache', '--synth-dir', apart(), '--stack', '*'],
    () => ['destroy', '--synth-dir', apart(), '--stack', '*', ...APPLY],
  ],
}

const LOCAL = ['history', 'runs', 'transfer', 'show', 'output']

describe('a secret that is declared no more', () => {
  it.each(Object.entries(views))('is said nowhere when its object %s', async (_, calls) => {
    for (const it of calls) {
      const args = it()
      const outcome = LOCAL.includes(args[0] ?? '') ? await at.run([...args]) : await at.fast([...args])
      said += outcome.stdout + outcome.stderr
      expect(outcome, outcome.stderr).toMatchObject({code: 0})
    }
    expectNothingOut()
  })
})

it('is known as one until another value took its place', async () => {
  expect(ledger()).toContain('"secret/dataEvictionPolicy": "former"')
  await apply(from(clear()))
  expect(ledger()).not.toContain('secret/dataEvictionPolicy')
  const {fields} = documentOf(await call(['explain', 'cache', ...from(clear()), '-o', 'json']))
  expect(fields).toContainEqual(expect.objectContaining({path: '/dataEvictionPolicy', live: 'noeviction'}))
})

it('is compared and recorded again once it is declared again', async () => {
  await apply(from(hidden()), GIVEN)
  expect(ledger()).toMatch(/"secret\/dataEvictionPolicy": "(assumed:)?scrypt:/)
  expect(await call(['plan', ...from(hidden()), '--detailed-exitcode'], GIVEN)).toMatchObject({code: 0})
  expectNothingOut()
})
