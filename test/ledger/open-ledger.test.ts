import {describe, expect, it} from 'vitest'
import {localLedgerWarning, stateKeyOf} from '../../src/ledger/open-ledger.ts'

const options = {stack: 'shop', folder: '/srv/infra', environment: {TF_HTTP_ADDRESS: 'https://git.example.com/state?x=1'}}

describe('where a ledger is', () => {
  it('is beside the stack, whatever folder the rendered path names', () => {
    expect(stateKeyOf({type: 'local', file: 'terraform.shop.tfstate'}, options)).toBe('local:/srv/infra/terraform.shop.tfstate')
    expect(stateKeyOf({type: 'local', file: '../../elsewhere/terraform.shop.tfstate'}, options)).toBe(
      'local:/srv/infra/terraform.shop.tfstate',
    )
  })

  it('is the file of --state when that is given', () => {
    expect(stateKeyOf({type: 'local', file: 'a'}, {...options, stateFile: 'state/mine'})).toBe('local:/srv/infra/state/mine')
    expect(stateKeyOf({type: 'local', file: 'a'}, {...options, stateFile: '/tmp/mine'})).toBe('local:/tmp/mine')
  })

  it('is the address of an http backend, from the environment too', () => {
    expect(stateKeyOf({type: 'http'}, options)).toBe('http:https://git.example.com/state?x=1')
    expect(stateKeyOf({type: 'http', address: 'https://me:pw@git.example.com/s'}, options)).toBe('http:https://git.example.com/s')
  })
})

describe('the warning about a local ledger', () => {
  it('is given under CI only, and only for files', () => {
    expect(localLedgerWarning({type: 'local', file: 'a'}, 'shop', {CI: 'true'})).toContain('TF_HTTP_ADDRESS')
    expect(localLedgerWarning({type: 'local', file: 'a'}, 'shop', {CI: 'false'})).toBeUndefined()
    expect(localLedgerWarning({type: 'local', file: 'a'}, 'shop', {})).toBeUndefined()
    expect(localLedgerWarning({type: 'http'}, 'shop', {CI: 'true'})).toBeUndefined()
  })
})
