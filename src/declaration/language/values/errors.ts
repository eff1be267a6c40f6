import {AppError, EXIT, type Problem} from '../../../base/errors.ts'

export const CORRECT_STACKS = 'Correct them where they are declared, then run "svcctl validate".'
export const SET_VARIABLES = 'Set them (TF_VAR_NAME, --var NAME=VALUE, --var-file FILE), then run the command again.'

/** Everything that is wrong with the stacks, said at once. */
export class DeclarationError extends AppError {
  /**
   * @param more - there are others, which were not looked for any more
   * @param remedies - the next steps, where the stacks are not to be corrected
   */
  constructor(
    problems: readonly Problem[],
    {more = false, remedies = [CORRECT_STACKS]}: {readonly more?: boolean; readonly remedies?: readonly string[]} = {},
  ) {
    const count = problems.length === 1 ? 'one problem' : `${more ? 'more than ' : ''}${problems.length} problems`
    const where = remedies.includes(CORRECT_STACKS) ? 'the stacks have' : 'the values of variables have'
    super(`${where} ${count}; nothing was sent`, {
      code: 'E_DECLARATION',
      exit: EXIT.usage,
      suggestions: remedies,
      problems,
    })
  }
}

/** There is nothing to read declarations from. */
export class NoStacksError extends AppError {
  constructor(message: string, suggestion: string, cause?: unknown) {
    super(message, {code: 'E_NO_STACKS', exit: EXIT.usage, suggestions: [suggestion], cause})
  }
}

export const noProject = (cwd: string, cause?: unknown): NoStacksError =>
  new NoStacksError(
    `there is no cdktf.json in ${cwd}`,
    'Run svcctl in the folder of cdktf.json, or name a folder of synthesized stacks: --synth-dir cdktf.out.',
    cause,
  )

/** A stack file, a manifest, a variables file or cdktf.json cannot be read as what it should be. */
export class StackFileError extends AppError {
  constructor(file: string, what: string, suggestion: string, cause?: unknown) {
    super(`${file}: ${what}`, {code: 'E_STACK_FILE', exit: EXIT.usage, suggestions: [suggestion], cause})
  }
}

/** The `app` of cdktf.json did not give stacks. */
export class SynthesisError extends AppError {
  constructor(message: string, suggestions: readonly string[], problems?: readonly Problem[], cause?: unknown) {
    super(message, {code: 'E_SYNTH', exit: EXIT.usage, lines: true, suggestions, ...(problems ? {problems} : {}), cause})
  }
}

/** `--stack` names nothing. */
export class UnknownStackError extends AppError {
  /** @param option - that names it */
  constructor(wanted: string, known: readonly string[], near: string | undefined, option = '--stack') {
    const list = known.length === 0 ? 'The app has no stacks.' : `The stacks are: ${known.join(', ')}.`
    super(`no stack is called "${wanted}"`, {
      code: 'E_STACK_UNKNOWN',
      exit: EXIT.usage,
      suggestions: [near === undefined ? list : `Did you mean ${option} ${near}? ${list}`],
    })
  }
}

/** Values for variables that do not fit what the stacks declare. */
export class VariableError extends AppError {
  constructor(problems: readonly Problem[], suggestions: readonly string[]) {
    super(problems.length === 1 ? (problems[0]?.message ?? '') : `${problems.length} problems with variables`, {
      code: 'E_VARIABLE',
      exit: EXIT.usage,
      suggestions,
      problems,
    })
  }
}

/** An expression that cannot be parsed or that svcctl does not evaluate. Becomes a problem of the object it stands in. */
export class ExpressionError extends AppError {
  /** Character in the expression, from 0. */
  readonly at: number

  constructor(message: string, at: number, suggestion?: string) {
    super(message, {code: 'E_EXPRESSION', exit: EXIT.usage, suggestions: suggestion === undefined ? [] : [suggestion]})
    this.at = at
  }
}

/** A value does not fit where it stands; what `try` and `can` catch. Never quotes a secret. */
export class ExpressionValueError extends ExpressionError {}
