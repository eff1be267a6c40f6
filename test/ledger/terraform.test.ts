/** Real `terraform` reads our ledgers. Skipped, and said so, where there is none. */
import {execFile, execFileSync, spawnSync} from 'node:child_process'
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {promisify} from 'node:util'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {encodeLedger} from '../../src/ledger/tfstate.ts'
import {startStateServer} from '../support/state-server.ts'
import {fullLedger} from './sample-ledger.ts'

const run = promisify(execFile)
const isMissing = spawnSync('terraform', ['version'], {stdio: 'ignore'}).status !== 0
if (isMissing) console.warn('SKIPPED: terraform is not installed, so nobody but us has read our ledgers')

let folder: string
const environment = {PATH: process.env.PATH, HOME: tmpdir(), CHECKPOINT_DISABLE: '1', TF_IN_AUTOMATION: '1'}
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svcctl-terraform-'))
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

const ADDRESSES = [
  'null_resource.cache[9]',
  'null_resource.cache[10]',
  'null_resource.orders',
  'null_resource.users["o\'neil \\"x\\" $${y} ü"]',
  'null_resource.users["spelled $${otherwise}"]',
]
const OUTPUTS = {
  endpoint: {sensitive: false, type: 'string', value: 'db.example.com:6379'},
  nothing: {sensitive: false, type: 'dynamic', value: null},
  many: {
    sensitive: true,
    type: ['object', {a: 'bool', b: ['tuple', ['number', 'string', 'dynamic', ['object', {}]]], none: ['tuple', []]}],
    value: {b: [1, 'two', null, {}], a: true, none: []},
  },
}

describe.skipIf(isMissing)('terraform', () => {
  it('lists, shows and pulls a ledger file, and leaves its bytes alone', () => {
    const terraform = (...args: string[]) => execFileSync('terraform', args, {cwd: folder, env: environment, encoding: 'utf8'})
    writeFileSync(join(folder, 'main.tf.json'), JSON.stringify({terraform: {backend: {local: {path: 'terraform.shop.tfstate'}}}}))
    terraform('init', '-input=false')
    const text = encodeLedger(fullLedger())
    writeFileSync(join(folder, 'terraform.shop.tfstate'), text)
    expect(terraform('state', 'list').trim().split('\n')).toEqual(ADDRESSES)
    expect(JSON.parse(terraform('output', '-json'))).toEqual(OUTPUTS)
    expect(JSON.parse(terraform('state', 'pull'))).toMatchObject({serial: 7, lineage: '2c2f7c5e-1111-4222-8333-444455556666'})
    expect(readFileSync(join(folder, 'terraform.shop.tfstate'), 'utf8')).toBe(text)
  })

  it('reads the same ledger from a state server', async () => {
    const terraform = async (...args: string[]) => (await run('terraform', args, {cwd: folder, env: environment})).stdout
    const server = await startStateServer({username: 'ci', password: 'pass-word-1'})
    try {
      const {address} = server
      const http = {address, lock_address: address, unlock_address: address, username: 'ci', password: 'pass-word-1'}
      writeFileSync(join(folder, 'main.tf.json'), JSON.stringify({terraform: {backend: {http}}}))
      await terraform('init', '-input=false')
      server.state = encodeLedger(fullLedger())
      expect((await terraform('state', 'list')).trim().split('\n')).toEqual(ADDRESSES)
      expect(JSON.parse(await terraform('output', '-json'))).toEqual(OUTPUTS)
      expect(server.state).toBe(encodeLedger(fullLedger()))
    } finally {
      await server.close()
    }
  })
})
