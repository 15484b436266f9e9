package io.carillon.run;

/**
 * The priority of a run. Priorities are shares and not a strict order: while runs of all priorities are due, a claim
 * takes them in the ratio 8:4:2:1, so that no priority starves.
 */
public enum Priority {
    HIGH(0, 8),
    NORMAL(1, 4),
    LOW(2, 2),
    BULK(3, 1);

    private final int number;
    private final int share;

    Priority(int number, int share) {
        this.number = number;
        this.share = share;
    }

    /** Returns the share of this priority while runs of all priorities are due. */
    public int share() {
        return share;
    }

    /** Returns the number stored in the database; 0 is the highest priority. */
    public short number() {
        return (short) number;
    }

    /** Returns the priority for a stored number. */
    public static Priority of(int number) {
        for (Priority priority : values()) if (priority.number == number) return priority;
        throw new IllegalArgumentException("no priority with number " + number);
    }
}
