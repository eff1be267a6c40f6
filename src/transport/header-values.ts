/** What can stand in a header; a key that was read from a file often ends with a line break, which cannot. */
import {AppError, EXIT} from '../base/errors.ts'

export class HeaderValueError extends AppError {
  constructor(what: string, why: string) {
    super(`${what} cannot be sent: ${why}`, {
      code: 'E_HEADER_VALUE',
      exit: EXIT.usage,
      suggestions: [
        'Store the value again without line breaks and other signs that cannot be seen: svcctl profile set, svcctl files-key set, --headers, or the environment variable.',
      ],
    })
  }
}

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** They say how the message itself is sent, which is the connection's own affair. */
const CONNECTION = new Set(
  'accept-encoding connection content-length expect host keep-alive te trailer transfer-encoding upgrade'.split(' '),
)

export const isOfConnection = (name: string): boolean => CONNECTION.has(name.toLowerCase())

export const isHeader = (name: string, value: string): boolean => NAME.test(name) && VALUE.test(value)

/** @throws HeaderValueError: never with a word of the value, which is secret more often than not */
export function assertSendable(headers: Readonly<Record<string, string>> = {}): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!NAME.test(name)) throw new HeaderValueError(`the header ${JSON.stringify(name)}`, 'that is no name of a header')
    assertSendableAs(`the header ${JSON.stringify(name)}`, value)
  }
}

/**
 * @param what - what is to be the value of a header
 * @throws HeaderValueError
 */
export function assertSendableAs(what: string, value: string): void {
  if (!VALUE.test(value)) throw new HeaderValueError(what, 'its value holds a line break, or another sign that no header can hold')
}
