package io.carillon.cli.screen;

import java.util.ArrayList;
import java.util.List;

/** One line of a screen, put together from left to right. Whatever is added, it never grows beyond its width, and holds no character that would move the cursor. */
public final class Line {
    private record Piece(Ink ink, String text) {}

    private final int width;
    private final List<Piece> pieces = new ArrayList<>();
    private int used;
    private boolean cut;

    /** An empty line of at most so many columns. */
    public Line(int width) {
        this.width = Math.max(0, width);
    }

    /** Adds text; what does not fit is cut off, and the line ends with a sign of it. */
    public Line add(Ink ink, String text) {
        String clean = clean(text);
        String fitting = clean.substring(0, Math.min(clean.length(), width - used));
        if (!clean.substring(fitting.length()).isBlank()) cut = true;
        if (!fitting.isEmpty()) pieces.add(new Piece(ink, fitting));
        used += fitting.length();
        return this;
    }

    public Line add(String text) {
        return add(Ink.PLAIN, text);
    }

    /** Adds text in a column of its own: cut to it, or filled up to it, and a gap after it. */
    public Line cell(Ink ink, String text, int columns) {
        String clean = clean(text);
        String cut = clean.length() > columns ? clean.substring(0, Math.max(0, columns - 1)) + "~" : clean;
        return add(ink, cut).add(" ".repeat(Math.max(0, columns - cut.length()) + 2));
    }

    /** The same, with the text at the right. */
    public Line right(Ink ink, String text, int columns) {
        String clean = clean(text);
        return add(" ".repeat(Math.max(0, columns - clean.length())))
                .add(ink, clean)
                .add("  ");
    }

    /** Moves on so that text of this length ends at the right edge; a line that is too full stays as it is. */
    public Line toTheRight(int length) {
        return add(" ".repeat(Math.max(1, width - used - length)));
    }

    /** The line for a terminal. */
    public String text(Look look) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < pieces.size(); i++) {
            Piece piece = pieces.get(i);
            String shown = piece.text;
            if (cut && i == pieces.size() - 1) shown = shown.substring(0, shown.length() - 1) + look.sign("…", "~");
            text.append(look.colours() ? piece.ink.paint(shown) : shown);
        }
        return look.colours() ? text.toString() : text.toString().stripTrailing();
    }

    /** Text of others may hold anything: control characters would break the screen, wide ones its columns. */
    static String clean(String text) {
        StringBuilder clean = new StringBuilder(text.length());
        text.codePoints().forEach(point -> {
            boolean sign = point >= 0x2000 && point < 0x2E00 && !Character.isISOControl(point);
            boolean narrow = point >= 0x20 && point < 0x1100 && !Character.isISOControl(point);
            boolean moves = Character.getType(point) == Character.FORMAT
                    || Character.getType(point) == Character.NON_SPACING_MARK;
            clean.appendCodePoint((sign || narrow) && !moves ? point : point == '\t' ? ' ' : '?');
        });
        return clean.toString();
    }
}
