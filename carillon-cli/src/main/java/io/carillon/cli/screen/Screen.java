package io.carillon.cli.screen;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A screen of its own beside the lines of the terminal, drawn in place; {@link #close()} brings the lines back. Safe for several threads. */
public final class Screen implements AutoCloseable {
    private static final String ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J";

    private final OutputStream out;
    private final TerminalGuard guard;
    private final Look look;
    private boolean closed;

    Screen(OutputStream out, TerminalGuard guard, Look look) throws IOException {
        this.out = out;
        this.guard = guard;
        this.look = look;
        write(ENTER);
    }

    /** Draws a frame from the top; each line is expected to fit, and rows below the last line are cleared. */
    public synchronized void draw(List<Line> lines) throws IOException {
        if (!closed) write(frame(lines, look));
    }

    /** All of it in one write. No line ends with a line feed, so nothing ever scrolls. */
    static String frame(List<Line> lines, Look look) {
        StringBuilder frame = new StringBuilder("\u001b[H");
        for (int row = 0; row < lines.size(); row++) {
            if (row > 0) frame.append("\u001b[").append(row + 1).append(";1H");
            frame.append(lines.get(row).text(look)).append("\u001b[K");
        }
        return frame.append("\u001b[J").toString();
    }

    private void write(String text) throws IOException {
        Charset charset = look.unicode() ? StandardCharsets.UTF_8 : StandardCharsets.US_ASCII;
        out.write(text.getBytes(charset));
        out.flush();
    }

    @Override
    public synchronized void close() {
        if (closed) return;
        closed = true;
        guard.close();
    }
}
