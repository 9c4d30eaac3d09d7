/** What we use and hand on of `hl7-standard` 1.0.4, which has no types of its own. */
declare module 'hl7-standard' {
  /** A string; with components an object keyed `PID.5.1`; with subcomponents or repetitions a list. */
  type Value = string | Value[] | { [key: string]: Value };

  namespace HL7 {
    interface Segment {
      readonly type: string;
      readonly index: number;
      readonly data: { [key: string]: Value };
      /** Null when absent. Escape sequences are not decoded. */
      get(field: string, sectionIndex?: number, subIndex?: number): Value | null;
      set(field: string, value: Value, sectionIndex?: number, subIndex?: number): Value;
    }

    interface Options {
      /** What separates repetitions (so named by the library), `~`. */
      subComponents?: string;
      /** What separates subcomponents (so named by the library), `&`. */
      repeatingFields?: string;
      /** What `build` puts between segments, CRLF. */
      lineEndings?: string;
    }
  }

  class HL7 {
    constructor(data?: string, options?: HL7.Options);
    readonly raw: string;
    readonly transformed: { [segment: string]: HL7.Segment[] };
    /** Parses; without a callback it throws. */
    transform(callback?: (error: Error | null, transformed: unknown) => void, batch?: boolean): void;
    build(): string;
    /** `index` counts segments of the name, `sectionIndex` repetitions, `subIndex` subcomponents, all from 0. */
    get(field: string, index?: number, sectionIndex?: number, subIndex?: number): Value | null;
    set(field: string, value: Value, index?: number, sectionIndex?: number, subIndex?: number): Value;
    getSegment(name: string): HL7.Segment | null;
    getSegments(name?: string): HL7.Segment[];
    getSegmentsAfter(
      start: HL7.Segment,
      name: string,
      consecutive?: boolean,
      stop?: string | string[],
    ): HL7.Segment[];
    createSegment(name: string): HL7.Segment;
    createSegmentAfter(name: string, after: HL7.Segment): HL7.Segment;
    createSegmentBefore(name: string, before: HL7.Segment): HL7.Segment;
    deleteSegment(segment: HL7.Segment): void;
    deleteSegments(segments: HL7.Segment[]): void;
    moveSegmentAfter(segment: HL7.Segment, after: HL7.Segment): void;
    moveSegmentBefore(segment: HL7.Segment, before: HL7.Segment): void;
  }

  export = HL7;
}
