/** Terraform's functions as far as svcctl evaluates them, over plain JSON: those that hang on nothing but their arguments. */

import type {FunctionTable} from '../values/rule.ts'
import {COLLECTIONS} from './collections.ts'
import {ENCODINGS} from './encodings.ts'
import {NUMBERS} from './numbers.ts'
import {TEXTS} from './texts.ts'

export const TERRAFORM_FUNCTIONS: FunctionTable = {...COLLECTIONS, ...ENCODINGS, ...NUMBERS, ...TEXTS}
