import {execFile, execFileSync, spawn} from 'node:child_process'
import {once} from 'node:events'
import {closeSync, lstatSync, mkdirSync, openSync, readdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {promisify} from 'node:util'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {PROGRAM} from '../support/program.ts'
import {documentOf, FAST, type Site, site} from '../support/site.ts'
import {jsonStack, saveStack} from '../support/stack-json.ts'

let here: Site
let stack: readonly string[]
const at = (name: string) => join(here.folder, name)
beforeEach(async () => {
  here = await site()
  stack = ['--synth-dir', saveStack(here.folder, jsonStack('shop').subscription('orders'))]
})
afterEach(() => here.close())

describe('plan --out', () => {
  it('writes to a FIFO what its reader gets, and the FIFO stays', async () => {
    execFileSync('mkfifo', [at('fifo')])
    const planned = here.fast(['plan', ...stack, '--out', 'fifo'])
    const {stdout} = await promisify(execFile)('cat', [at('fifo')])
    expect(await planned).toMatchObject({code: 0, stderr: expect.stringContaining('The plan was written to fifo')})
    expect(JSON.parse(stdout)).toMatchObject({format: expect.stringContaining('svcctl.plan')})
    expect(lstatSync(at('fifo')).isFIFO()).toBe(true)
  })

  it('follows a link to a device, and says when there is no room on it', async () => {
    symlinkSync('/dev/full', at('full'))
    expect(await here.fast(['plan', ...stack, '--out', 'full', '-o', 'json'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('full could not be written (ENOSPC) (E_FILE_WRITE)'),
    })
    expect(lstatSync(at('full')).isSymbolicLink()).toBe(true)
  })

  it('refuses a folder before anything is read', async () => {
    mkdirSync(at('plans'))
    expect(await here.fast(['plan', ...stack, '--out', 'plans'])).toMatchObject({code: 64, stderr: expect.stringContaining('E_NOT_A_FILE')})
    expect(here.simulator.log).toEqual([])
  })
})

describe('a ledger', () => {
  it('is replaced by no plan, no report, no archive and no link to it, and nothing is read', async () => {
    expect((await here.fast(['apply', ...stack, '--auto-approve'])).code).toBe(0)
    const [ledger = ''] = readdirSync(here.folder).filter(it => it.endsWith('.tfstate'))
    const text = readFileSync(at(ledger), 'utf8')
    symlinkSync(ledger, at('link'))
    const other = 'state.json'
    writeFileSync(at(other), text)
    const {length} = here.simulator.log
    for (const words of [
      ['plan', ...stack, '--out', ledger],
      ['plan', ...stack, '--out', 'link'],
      ['plan', ...stack, '--state', other, '--out', other],
      ['plan', ...stack, '--state', other, '--out', `${other}.controls.json`],
      ['plan', ...stack, '--state', other, '--out', `.${other}.lock.info`],
      ['plan', ...stack, '--report', `markdown=${ledger}`],
      ['plan', ...stack, '--report', `html=${ledger}.backup`],
      ['enterprise', 'support-package', 'cluster', '--file', ledger, '--overwrite', '--skip-checks'],
    ])
      expect(await here.fast(words), words.join(' ')).toMatchObject({
        code: 64,
        stderr: expect.stringContaining('is where a ledger is kept'),
      })
    expect([readFileSync(at(ledger), 'utf8'), readFileSync(at(other), 'utf8'), here.simulator.log.length]).toEqual([text, text, length])
  })
})

describe('what svcctl keeps of its runs', () => {
  it('is replaced by no plan and no report, nor is either added to a ledger or an audit', async () => {
    expect((await here.fast(['apply', ...stack, '--auto-approve'])).code).toBe(0)
    const audit = '.svcctl/audit/shop.jsonl'
    const [journal = ''] = readdirSync(at('.svcctl/runs')).filter(it => it.endsWith('.jsonl'))
    writeFileSync(at('elsewhere.jsonl'), readFileSync(at(audit)))
    const kept = [audit, `.svcctl/runs/${journal}`, 'elsewhere.jsonl', 'terraform.shop.tfstate']
    const texts = () => kept.map(it => readFileSync(at(it), 'utf8'))
    const [before, {length}] = [texts(), here.simulator.log]
    const refused = {code: 64, stderr: expect.stringContaining('E_NOT_A_FILE')}
    for (const file of kept) {
      expect(await here.fast(['plan', ...stack, '--out', file]), file).toMatchObject(refused)
      expect(await here.fast(['plan', ...stack, '--report', `html=${file}`]), file).toMatchObject(refused)
      for (const variable of ['GITHUB_STEP_SUMMARY', 'GITHUB_OUTPUT'])
        expect(await here.fast(['plan', ...stack, '--report', 'github'], {env: {[variable]: at(file)}}), file).toMatchObject(refused)
    }
    expect([texts(), here.simulator.log.length]).toEqual([before, length])
  })

  it('and a summary of a job that is a FIFO waits for its reader as any other file', async () => {
    execFileSync('mkfifo', [at('fifo')])
    const planned = here.fast(['plan', ...stack, '--report', 'github'], {env: {GITHUB_STEP_SUMMARY: at('fifo')}})
    const {stdout} = await promisify(execFile)('cat', [at('fifo')])
    expect([(await planned).code, stdout]).toEqual([0, expect.stringContaining('### svcctl: shop')])
  })
})

describe('a support package', () => {
  it('is written whole to a FIFO, and nothing else stays behind', async () => {
    execFileSync('mkfifo', [at('fifo')])
    const temporary = at('tmp')
    mkdirSync(temporary)
    const made = here.child(['enterprise', 'support-package', 'cluster', '--file', 'fifo', '-o', 'json', ...FAST], {
      env: {TMPDIR: temporary},
    })
    const {stdout} = await promisify(execFile)('cat', [at('fifo')], {encoding: 'buffer', maxBuffer: 100_000_000})
    const outcome = await made
    expect(outcome.code, outcome.stderr).toBe(0)
    expect(documentOf(outcome)).toMatchObject({file_path: at('fifo'), file_size: stdout.length})
    expect([...stdout.subarray(0, 2)]).toEqual([0x1f, 0x8b])
    expect([lstatSync(at('fifo')).isFIFO(), readdirSync(temporary)]).toEqual([true, []])
  })

  it('is not uploaded from a FIFO or a device, and none of them is ever removed', async () => {
    execFileSync('mkfifo', [at('fifo')])
    const outcome = await here.fast(['enterprise', 'support-package', 'cluster', '--file', 'fifo', '--upload', '--no-save'])
    expect(outcome).toMatchObject({code: 64, stderr: expect.stringContaining('--upload sends a file')})
    expect(lstatSync(at('fifo')).isFIFO()).toBe(true)
  })
})

describe('a full disk', () => {
  /** One of the two goes to /dev/full, the other one is what is answered. */
  async function withFull(full: 'stdout' | 'stderr', args: readonly string[]): Promise<{code: number | null; text: string}> {
    const device = openSync('/dev/full', 'w')
    const stdio: ('ignore' | 'pipe' | number)[] = full === 'stdout' ? ['ignore', device, 'pipe'] : ['ignore', 'pipe', device]
    const child = spawn(process.execPath, [PROGRAM, ...args, ...FAST], {cwd: here.folder, env: here.env, stdio})
    closeSync(device)
    let text = ''
    child[full === 'stdout' ? 'stderr' : 'stdout']?.on('data', part => {
      text += part
    })
    const [code] = await once(child, 'close')
    return {code, text}
  }

  it.each(['text', 'json'])('behind standard output (%s) ends an apply with one line, and it was carried out', async format => {
    const {code, text} = await withFull('stdout', ['apply', ...stack, '--auto-approve', '-o', format])
    expect(code).toBe(1)
    expect(text).toContain('error: standard output could not be written (ENOSPC): its content is incomplete (E_OUTPUT)')
    expect(text).not.toMatch(/\n +at |node:/)
    expect(here.writes).toEqual(['POST /subscriptions'])
    expect(readFileSync(at('terraform.shop.tfstate'), 'utf8')).toContain('null_resource')
    expect((await here.fast(['plan', ...stack, '--detailed-exitcode'])).code).toBe(0)
  })

  it('behind standard error is an exit code, and the result is whole', async () => {
    const {code, text} = await withFull('stderr', ['apply', ...stack, '--auto-approve', '-o', 'json'])
    expect([code, JSON.parse(text).operations.length]).toEqual([1, 1])
  })

  it('behind the version is one line', async () => {
    const device = openSync('/dev/full', 'w')
    const child = spawn(process.execPath, [PROGRAM, '--version'], {stdio: ['ignore', device, 'pipe']})
    closeSync(device)
    let text = ''
    child.stderr?.on('data', part => {
      text += part
    })
    expect(await once(child, 'close')).toEqual([1, null])
    expect(text).toMatch(/^error: ENOSPC.*\n$/)
  })
})

describe('a state folder that cannot be made', () => {
  it('is named, and nothing hangs on it', async () => {
    const outcome = await here.fast(['plan', ...stack], {env: {SVC_STATE_DIR: '/proc/svcctl'}})
    expect(outcome).toMatchObject({code: 0, stderr: expect.stringContaining('/proc/svcctl cannot be made')})
  })
})
