import {AppError} from './errors.ts'

/** A server answered more secrets than can be hidden: each has hundreds of forms, and none may be left out. */
export class TooManySecretsError extends AppError {
  /** @param of - the object that has them, or the last of them */
  constructor(of: string) {
    super(`${of}: what the servers answered has more secrets in it than can be hidden, in number or in length; nothing more is read`, {
      code: 'E_TOO_MANY_SECRETS',
      suggestions: [
        `Look at that object with "svcctl api": some ten thousand passwords are hidden, and an object with thousands of them, or with one of a megabyte, is hardly as it should be.`,
        'If all of them are right, take fewer objects at once: --stack, --target, or fewer paths to export.',
      ],
    })
  }
}
