package io.carillon.run;

/** Four classes by share, not by order: with all of them waiting, a batch holds them 8:4:2:1, so that none starves. */
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

    /** Its part of a batch when every class has work. */
    public int share() {
        return share;
    }

    /** The number that stands in the database: 0 is the highest class. */
    public short number() {
        return (short) number;
    }

    /** Reads the number back. */
    public static Priority of(int number) {
        for (Priority priority : values()) if (priority.number == number) return priority;
        throw new IllegalArgumentException("no priority class " + number);
    }
}
