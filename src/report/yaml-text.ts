/** YAML is loaded when a result is written in it, and not before: import this file dynamically. */
import {type ScalarTag, stringify} from 'yaml'
import {ExactNumber, escapeUnseen} from '../base/lossless-json.ts'
import {withoutCommands} from '../base/runner-commands.ts'

/** A number in the digits it came with; the library takes every `Number` for its value. */
class Digits {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const exactNumber: ScalarTag = {
  identify: value => value instanceof Digits,
  default: true,
  tag: 'tag:yaml.org,2002:float',
  resolve: text => new Digits(text),
  stringify: ({value}) => (value instanceof Digits ? value.text : String(value)),
}

/** The same document where no number is to be written in its own digits. */
function withDigits(value: unknown): unknown {
  if (value instanceof ExactNumber) return new Digits(value.toString())
  if (Array.isArray(value)) return value.map(withDigits)
  if (value === null || typeof value !== 'object' || 'toJSON' in value) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withDigits(item)]))
}

/** A text that would act on a terminal or a runner, on one line in double quotes: JSON's escapes are YAML's. */
const unseenText: ScalarTag = {
  identify: value => typeof value === 'string' && (escapeUnseen(value) !== value || withoutCommands(value) !== value),
  default: true,
  tag: 'tag:yaml.org,2002:str',
  resolve: text => text,
  stringify: ({value}) => escapeUnseen(JSON.stringify(value)),
}

/** Text that other YAML readers might take for a number, a date or a truth value is quoted. */
export const yamlText = (document: unknown): string =>
  stringify(withDigits(document), {
    lineWidth: 0,
    aliasDuplicateObjects: false,
    version: '1.1',
    customTags: tags => [exactNumber, unseenText, ...tags],
  })
