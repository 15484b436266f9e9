package io.carillon.it.walls;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import java.util.List;
import java.util.Set;

/** Measures how much of an inner room is public: these rooms are entered through a few types. */
public final class PublicShare {

    /** At most this many in a hundred. */
    static final int LIMIT = 45;
    /** Below this a percentage says nothing: a room of two with one door has 50 %. */
    static final int FEWEST_TYPES = 4;

    private static final Set<String> ROOMS = Set.of("engine", "postgres");

    private PublicShare() {}

    /** One line for each package of the inner rooms that shows too much. */
    public static List<String> violations(JavaClasses classes) {
        return classes.stream()
                .map(JavaClass::getPackageName)
                .distinct()
                .sorted()
                .filter(name -> Room.nameFor(name).filter(ROOMS::contains).isPresent())
                .flatMap(name -> violation(name, topLevel(classes, name)).stream())
                .toList();
    }

    private static List<String> violation(String packageName, List<JavaClass> types) {
        List<String> shown = types.stream()
                .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                .map(JavaClass::getSimpleName)
                .sorted()
                .toList();
        if (types.size() < FEWEST_TYPES || shown.size() * 100 <= LIMIT * types.size()) {
            return List.of();
        }
        return List.of("%s shows %d of %d types, more than %d %%: %s"
                .formatted(packageName, shown.size(), types.size(), LIMIT, shown));
    }

    private static List<JavaClass> topLevel(JavaClasses classes, String packageName) {
        return classes.stream()
                .filter(type -> type.getPackageName().equals(packageName))
                .filter(type -> type.isTopLevelClass() && !type.getSimpleName().equals("package-info"))
                .toList();
    }
}
