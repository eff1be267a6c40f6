import ForgetCommand from '../forget.ts'

/** Terraform's word for `forget`. */
export default class StateRmCommand extends ForgetCommand {
  static override summary = 'remove objects from a ledger and leave them as they are: the same as forget'
}
