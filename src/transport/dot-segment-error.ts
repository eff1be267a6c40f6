import {AppError} from '../base/errors.ts'

/** Every request goes through the one place that throws this: an id that nobody looked at leads to no other object. */
export class DotSegmentError extends AppError {
  constructor(path: string) {
    super(`${JSON.stringify(path.split('?')[0])} was not sent: "." or ".." in it would make it a request for something else`, {
      code: 'E_DOT_SEGMENT',
      suggestions: ['Look where such an id comes from (an argument, a ledger, an answer of the server): no object has it.'],
    })
  }
}
