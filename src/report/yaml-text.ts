/** YAML is loaded when a result is written in it, and not before: import this file dynamically. */
import {stringify} from 'yaml'

/** Text that other YAML readers might take for a number, a date or a truth value is quoted. */
export const yamlText = (document: unknown): string => stringify(document, {lineWidth: 0, aliasDuplicateObjects: false, version: '1.1'})
