import {describe, expect, it} from 'vitest'
import {parseHeaders, secretsInHeaders} from '../../src/passthrough/request-headers.ts'

describe('headers of a raw request', () => {
  it('have names in lower case and values without the blanks around them; a repeated one is joined', () => {
    expect(parseHeaders(['X-Request-Id:  7 ', 'Accept: a/b', 'x-request-id: 8', 'X-Empty:'])).toEqual({
      'x-request-id': '7, 8',
      accept: 'a/b',
      'x-empty': '',
    })
  })

  it.each([
    ['no colon', 'the header is not of the form "Name: value"'],
    [': value', 'the header is not of the form "Name: value"'],
    ['Na me: value', 'the name of the header holds a character no header name can have'],
    ['Content-Length: 3', '"content-length" is set by the connection itself'],
    ['X-Two: lines\r\nX-Other: 1', 'the value of "x-two" holds a line break or a character no header can carry'],
    ['X-Wide: €', 'the value of "x-wide" holds a line break or a character no header can carry'],
  ])('that could not be sent are refused before anything is: %j', (text, message) => {
    expect(() => parseHeaders([text])).toThrow(
      expect.objectContaining({code: 'E_HEADER', exit: 64, message: expect.stringContaining(message)}),
    )
  })

  it('are refused by their number where there are several, and no value is quoted', () => {
    try {
      parseHeaders(['X-A: 1', 'X-B hunter2'])
      expect.unreachable()
    } catch (error) {
      expect(String(error)).toContain('header 2 is not of the form')
      expect(String(error)).not.toContain('hunter2')
    }
  })

  it('that are credentials are known, with and without the scheme in front', () => {
    expect(secretsInHeaders({authorization: 'Bearer abc.def', 'x-api-key': 'k1', accept: 'a/b', 'x-empty': ''})).toEqual([
      'Bearer abc.def',
      'abc.def',
      'k1',
    ])
  })

  it('are known as a server reads them: the password of Basic, the values of cookies and of a list', () => {
    const basic = `Basic ${Buffer.from('ann:p:w 1').toString('base64')}`
    expect(secretsInHeaders({authorization: basic})).toEqual(expect.arrayContaining(['ann:p:w 1', 'p:w 1']))
    const cookies = secretsInHeaders({cookie: 'sid=s3cr%2Fet; theme=dark', accept: 'text/plain'})
    expect(cookies).toEqual(expect.arrayContaining(['s3cr%2Fet', 's3cr/et']))
    expect(cookies).not.toContain('dark')
    expect(secretsInHeaders({authorization: 'Digest username="ann", response="d1g3st"'})).toContain('d1g3st')
  })
})
