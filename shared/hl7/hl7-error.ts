/** A text that is no HL7 v2 message, or a path that is none. The text is public: it never quotes the message. */
export class Hl7Error extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Hl7Error';
  }
}
