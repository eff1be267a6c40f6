import {describe, expect, it} from 'vitest'
import {AppError} from '../../../src/base/errors.ts'
import {atStateFile, localLedgerWarning} from '../../../src/ledger/backends/open-ledger.ts'

describe('a ledger in the file of --state', () => {
  it('is there, whatever file the stack names, unless it is behind http', () => {
    expect(atStateFile({type: 'local', file: 'a'}, 'shop', 'state/mine')).toEqual({type: 'local', file: 'state/mine'})
    expect(() => atStateFile({type: 'http'}, 'shop', 'mine')).toThrow(AppError)
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
