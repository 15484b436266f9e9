package io.carillon.cli.shell;

import io.carillon.internal.value.ControlCharacters;
import java.io.PrintWriter;

/**
 * Escapes control characters except tabs and line ends. The output of a command contains text of other people, such as
 * names and errors that a server returns; it must not send commands to the terminal of an operator. The live view draws
 * on the terminal itself.
 *
 * <p>In JSON and in quoted YAML text, the escape stands for the same character.
 */
final class EscapingPrintWriter extends PrintWriter {
    private static final String CLEAR_LINE = "\r\u001b[K";

    /** A subclass, because {@link PrintWriter#checkError} then also reports errors of the given writer. */
    private EscapingPrintWriter(PrintWriter out) {
        super(out, true);
    }

    static EscapingPrintWriter around(PrintWriter out) {
        return out instanceof EscapingPrintWriter escaping ? escaping : new EscapingPrintWriter(out);
    }

    /** Clears the line of the cursor, so that the next text stands in its place. */
    void clearLine() {
        super.write(CLEAR_LINE, 0, CLEAR_LINE.length());
    }

    @Override
    public void write(int c) {
        write(String.valueOf((char) c));
    }

    @Override
    public void write(char[] text, int offset, int length) {
        write(new String(text, offset, length));
    }

    @Override
    public void write(String text, int offset, int length) {
        String escaped = ControlCharacters.escapeLines(text.substring(offset, offset + length));
        super.write(escaped, 0, escaped.length());
    }
}
