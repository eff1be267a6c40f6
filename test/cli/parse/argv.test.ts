import {describe, expect, it} from 'vitest'
import {normalizeArgv, outputFormatIn, secretsInArgv} from '../../../src/cli/parse/argv.ts'

const line = (text: string) => normalizeArgv(text.split(' ')).join(' ')

describe("Terraform's spelling", () => {
  it.each([
    ['plan -out=x.plan -var a=1', 'plan --out=x.plan --var a=1'],
    ['plan -target null_resource.a -detailed-exitcode', 'plan --target null_resource.a --detailed-exitcode'],
    ['apply -auto-approve -lock-timeout=30s -state s', 'apply --auto-approve --lock-timeout=30s --state s'],
    ['apply -parallelism=4', 'apply --max-inflight=4'],
    ['apply --parallelism 4', 'apply --max-inflight 4'],
    ['plan -json', 'plan --output json'],
    ['plan --json', 'plan --output json'],
    ['plan --refresh-only --stack a', 'drift --stack a'],
    ['plan -refresh-only', 'drift'],
    ['plan -refresh-only -detailed-exitcode --stack a', 'drift --stack a'],
  ])('%s is %s', (typed, meant) => {
    expect(line(typed)).toBe(meant)
  })

  it('leaves short options, and everything behind --, as they are', () => {
    expect(line('plan -vv -o json -q a')).toBe('plan -vv -o json -q a')
    expect(line('api cloud get / -- -out --json')).toBe('api cloud get / -- -out --json')
  })
})

describe('options before the command', () => {
  it('go behind it', () => {
    expect(line('--profile prod -o json api cloud get /')).toBe('api cloud get / --profile prod -o json')
    expect(line('--version -o json')).toBe('version -o json')
    expect(line('--help node list')).toBe('node list --help')
    expect(line('-vv --profile=prod profile list --verbose')).toBe('profile list -vv --profile=prod --verbose')
  })
})

describe('the output format', () => {
  it.each([
    ['plan -o json', 'json'],
    ['plan -ojson', 'json'],
    ['plan --output=yaml', 'yaml'],
    ['plan -o json --output table', 'table'],
    ['support-package cluster -o archive.tar.gz -o json', 'json'],
    ['support-package cluster -o archive.tar.gz', undefined],
    ['plan -- -o json', undefined],
  ])('of %s is %s', (typed, format) => {
    expect(outputFormatIn(typed.split(' '))).toBe(format)
  })
})

describe('secrets on the command line', () => {
  it('are known before it is parsed; - is none', () => {
    expect(secretsInArgv(['profile', 'set', 'p', '--api-key', '${KEY}', '--api-secret=keyring:p', '--password', '${X:-word}'])).toEqual([
      '${X:-word}',
    ])
    expect(secretsInArgv(['api', 'get', '/', '--api-key', '${KEY}'])).toEqual(['${KEY}'])
    expect(secretsInArgv('x --api-secret a --password=b=c --api-key -'.split(' '))).toEqual(['a', 'b=c'])
  })
})
