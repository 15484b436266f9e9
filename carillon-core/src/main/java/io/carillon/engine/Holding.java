package io.carillon.engine;

import io.carillon.run.RunId;
import io.carillon.store.HeldRun;
import io.carillon.store.ProgressNote;
import io.carillon.store.RunStore;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Everything this node holds, by run: queued, running, and ended but not yet written; and which claims the store has noted for it. Every run that the node may
 * own in the database stands in a note of the store, so that it is found if this node dies.
 */
final class Holding {
    private final Map<RunId, Held> held = new ConcurrentHashMap<>();
    private final Set<Held> unconfirmed = ConcurrentHashMap.newKeySet();
    private final AtomicLong lastNote = new AtomicLong();
    private final Map<Note, Integer> noted = new ConcurrentHashMap<>();
    private final Set<Note> forgotten = ConcurrentHashMap.newKeySet();
    private volatile Runnable onSkipped = () -> {};

    /** A claim that the store noted under this number. */
    private record Note(UUID owner, long number) {}

    /** What the store is to do with the notes of a node: remove these, and add one for the runs that are left of them. */
    record Rewrite(Set<Long> gone, long note, List<Held> left) {
        List<HeldRun> rows() {
            return left.stream().map(Holding::row).toList();
        }
    }

    static HeldRun row(Held one) {
        return new HeldRun(one.attemptValue().lane().project(), one.id(), one.attempt());
    }

    /** The number for the next claim. */
    long nextNote() {
        return lastNote.incrementAndGet();
    }

    /** All runs of this claim are held, or were released. A claim that failed is none of these: it may have committed. */
    void noted(UUID owner, long number, int runs) {
        if (runs > 0) noted.put(new Note(owner, number), runs);
    }

    /** The notes of a node that was declared dead are not its own any more. */
    void forgetNotes(UUID owner) {
        noted.keySet().removeIf(note -> note.owner.equals(owner));
        forgotten.removeIf(note -> note.owner.equals(owner));
    }

    /** What to do about the notes of this node; empty: nothing. Notes of which less than half is left are joined. */
    Optional<Rewrite> rewrite(UUID owner) {
        Map<Note, Integer> notes = Map.copyOf(noted);
        Map<Long, List<Held>> left = left(owner);
        Set<Long> gone = new HashSet<>();
        List<Held> kept = new ArrayList<>();
        notes.forEach((note, runs) -> {
            if (!note.owner.equals(owner)) return;
            List<Held> rest = left.getOrDefault(note.number, List.of());
            if (rest.size() * 2 >= runs) return;
            gone.add(note.number);
            kept.addAll(rest);
        });
        // A comparison may have seen a note before it was known here: what is known by now, or needed, is not
        // forgotten.
        for (Note note : forgotten)
            if (note.owner.equals(owner) && !notes.containsKey(note) && !left.containsKey(note.number))
                gone.add(note.number);
        if (gone.isEmpty()) return Optional.empty();
        return Optional.of(new Rewrite(gone, nextNote(), kept));
    }

    /** The store has done it. */
    void rewritten(UUID owner, Rewrite rewrite) {
        rewrite.left().forEach(one -> one.note(rewrite.note()));
        noted(owner, rewrite.note(), rewrite.left().size());
        if (!rewrite.left().isEmpty()) forgotten.remove(new Note(owner, rewrite.note()));
        for (long number : rewrite.gone()) {
            noted.remove(new Note(owner, number));
            forgotten.remove(new Note(owner, number));
        }
    }

    /** The rows behind these notes were compared with what is held: notes of claims without an answer can go, and what was unconfirmed is settled. */
    void compared(UUID owner, Set<Long> notes, Set<Held> settled) {
        Set<Long> needed = left(owner).keySet();
        for (long number : notes) {
            Note note = new Note(owner, number);
            if (!noted.containsKey(note) && !needed.contains(number)) forgotten.add(note);
        }
        unconfirmed.removeAll(settled);
    }

    /** In this order: an attempt that moves from the one to the other is seen in both, not in neither. */
    private Stream<Held> known() {
        return Stream.concat(List.copyOf(held.values()).stream(), List.copyOf(unconfirmed).stream())
                .distinct();
    }

    private Map<Long, List<Held>> left(UUID owner) {
        return known().filter(one -> one.owner().equals(owner)).collect(Collectors.groupingBy(Held::note));
    }

    /** Attempts that are no longer held although the database did not confirm their end. */
    Set<Held> unconfirmed() {
        return Set.copyOf(unconfirmed);
    }

    /** Forgets an attempt whose end the database refused: it may still be this node's there. */
    void removeUnconfirmed(Held one) {
        unconfirmed.add(one);
        remove(one);
    }

    /** Called when a hand-back may have skipped rows that are locked: they are this node's until a comparison has handed them back. */
    void onSkipped(Runnable action) {
        onSkipped = action;
    }

    /** Hands back attempts and forgets them, unless the store let fewer go: the others may be locked, and this node's still. */
    void handBack(RunStore runs, UUID owner, List<Held> some) {
        int done = runs.handBackRows(owner, some.stream().map(Holding::row).toList(), started(some.stream()), true);
        boolean all = done == some.size();
        some.forEach(all ? this::remove : this::removeUnconfirmed);
        if (!all) onSkipped.run();
    }

    /** Runs of which this node has called the handler, as far as it knows them. */
    Set<RunId> started() {
        return started(known());
    }

    private static Set<RunId> started(Stream<Held> some) {
        return some.filter(Held::started).map(Held::id).collect(Collectors.toSet());
    }

    void add(Held one) {
        held.put(one.id(), one);
    }

    /** Forgets an attempt, unless a later attempt of the same run has taken its place. */
    void remove(Held one) {
        held.remove(one.id(), one);
    }

    Optional<Held> find(RunId run) {
        return Optional.ofNullable(held.get(run));
    }

    Collection<Held> all() {
        return held.values();
    }

    int size() {
        return held.size();
    }

    /** What long runs said of their progress. */
    List<ProgressNote> progress() {
        return held.values().stream()
                .filter(one -> one.progressNow() != null)
                .map(one -> new ProgressNote(
                        one.attemptValue().lane().project(),
                        one.id(),
                        one.attempt(),
                        java.util.Objects.requireNonNull(one.progressNow())))
                .toList();
    }
}
