package io.carillon.cli.screen;

import java.util.ArrayList;
import java.util.List;

/**
 * A line of a screen, built from left to right. It never exceeds its width and contains no character that
 * moves the cursor.
 */
public final class Line {
    private record Segment(TerminalStyle style, String text) {}

    private final int width;
    private final List<Segment> segments = new ArrayList<>();
    private int used;
    private boolean cut;

    /**
     * Creates an empty line.
     *
     * @param width the maximum number of columns
     */
    public Line(int width) {
        this.width = Math.max(0, width);
    }

    /** Adds text. Text that does not fit is cut off, and the line then ends with an ellipsis. */
    public Line add(TerminalStyle style, String text) {
        String clean = sanitize(text);
        String fitting = clean.substring(0, Math.min(clean.length(), width - used));
        if (!clean.substring(fitting.length()).isBlank()) cut = true;
        if (!fitting.isEmpty()) segments.add(new Segment(style, fitting));
        used += fitting.length();
        return this;
    }

    public Line add(String text) {
        return add(TerminalStyle.PLAIN, text);
    }

    /** Adds text that is cut or padded to the given number of columns, and a gap after it. */
    public Line cell(TerminalStyle style, String text, int columns) {
        String clean = sanitize(text);
        String cut = clean.length() > columns ? clean.substring(0, Math.max(0, columns - 1)) + "~" : clean;
        return add(style, cut).add(" ".repeat(Math.max(0, columns - cut.length()) + 2));
    }

    /** Like {@link #cell}, but the text is right-aligned and not cut to the column. */
    public Line rightAlignedCell(TerminalStyle style, String text, int columns) {
        String clean = sanitize(text);
        return add(" ".repeat(Math.max(0, columns - clean.length())))
                .add(style, clean)
                .add("  ");
    }

    /** Adds spaces so that text of the given length ends at the right edge. Adds one space if the line is too full. */
    public Line padToRightEdge(int length) {
        return add(" ".repeat(Math.max(1, width - used - length)));
    }

    /** Returns the line for a terminal with these options. */
    public String text(RenderOptions renderOptions) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < segments.size(); i++) {
            Segment segment = segments.get(i);
            String shown = segment.text;
            if (cut && i == segments.size() - 1)
                shown = shown.substring(0, shown.length() - 1) + renderOptions.symbol("…", "~");
            text.append(renderOptions.colours() ? segment.style.apply(shown) : shown);
        }
        return renderOptions.colours() ? text.toString() : text.toString().stripTrailing();
    }

    /**
     * Replaces control characters, which would break the screen, and wide characters, which would break the columns.
     */
    static String sanitize(String text) {
        StringBuilder clean = new StringBuilder(text.length());
        text.codePoints().forEach(point -> {
            boolean symbol = point >= 0x2000 && point < 0x2E00 && !Character.isISOControl(point);
            boolean narrow = point >= 0x20 && point < 0x1100 && !Character.isISOControl(point);
            boolean moves = Character.getType(point) == Character.FORMAT
                    || Character.getType(point) == Character.NON_SPACING_MARK;
            clean.appendCodePoint((symbol || narrow) && !moves ? point : Character.isWhitespace(point) ? ' ' : '?');
        });
        return clean.toString();
    }
}
