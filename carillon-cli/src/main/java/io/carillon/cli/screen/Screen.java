package io.carillon.cli.screen;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The alternate screen of a terminal, drawn in place. {@link #close()} restores the normal screen. Thread-safe. */
public final class Screen implements AutoCloseable {
    private static final String ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J";

    private final OutputStream out;
    private final TerminalGuard guard;
    private final RenderOptions renderOptions;
    private boolean closed;

    Screen(OutputStream out, TerminalGuard guard, RenderOptions renderOptions) throws IOException {
        this.out = out;
        this.guard = guard;
        this.renderOptions = renderOptions;
        write(ENTER);
    }

    /** Draws a frame from the top. Each line must fit the width; rows below the last line are cleared. */
    public synchronized void draw(List<Line> lines) throws IOException {
        if (!closed) write(frame(lines, renderOptions));
    }

    /** Returns the frame for a single write. It contains no line feed, so the terminal never scrolls. */
    static String frame(List<Line> lines, RenderOptions renderOptions) {
        StringBuilder frame = new StringBuilder("\u001b[H");
        for (int row = 0; row < lines.size(); row++) {
            if (row > 0) frame.append("\u001b[").append(row + 1).append(";1H");
            frame.append(lines.get(row).text(renderOptions)).append("\u001b[K");
        }
        return frame.append("\u001b[J").toString();
    }

    private void write(String text) throws IOException {
        Charset charset = renderOptions.unicode() ? StandardCharsets.UTF_8 : StandardCharsets.US_ASCII;
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
