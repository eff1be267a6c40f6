import {describe, expect, it} from 'vitest'
import {Redactor} from '../../src/base/redact.ts'

const knowing = (...secrets: string[]) => {
  const redactor = new Redactor()
  for (const secret of secrets) redactor.register(secret)
  return redactor
}

describe('a redactor', () => {
  it('hides a secret wherever it stands, and as base64, in a URL and in JSON', () => {
    const redactor = knowing('p"ss wörd/1')
    for (const form of ['p"ss wörd/1', 'cCJzcyB3w7ZyZC8x', 'p%22ss%20w%C3%B6rd%2F1', 'p\\"ss wörd/1']) {
      expect(redactor.text(`a ${form} b`)).toBe('a [redacted] b')
    }
  })

  it('hides the pair of an Authorization header', () => {
    const redactor = new Redactor()
    redactor.registerBasic('admin', 'secret-1')
    expect(redactor.text('Authorization: Basic YWRtaW46c2VjcmV0LTE=')).toBe('Authorization: Basic [redacted]')
    expect(redactor.text('admin')).toBe('admin')
  })

  it('hides the longer of two secrets that begin alike as a whole', () => {
    expect(knowing('abcd', 'abcdefgh').text('abcdefgh abcd')).toBe('[redacted] [redacted]')
  })

  it('hides a very short secret only where it is a word of its own', () => {
    expect(knowing('a1').text('a1 a12 ba1 a1.')).toBe('[redacted] a12 ba1 [redacted].')
  })

  it('keeps the shape of a document: keys, numbers and lists stay', () => {
    expect(knowing('name', '1234').value({name: 'my name', id: 1234, list: ['x', 'name']})).toEqual({
      name: 'my [redacted]',
      id: 1234,
      list: ['x', '[redacted]'],
    })
  })

  it('takes a secret for text, not for a pattern', () => {
    expect(knowing('a.c$|(').text('abc a.c$|( ')).toBe('abc [redacted] ')
  })
})
